"""Linear layers follow each other with nothing between them: together they are one linear layer.

Seen when what reaches the loss passes several linear layers and no activation anywhere between them, by
every way. Dropout, batch norm, reshaping are no activations.

A model in which only some neighbours lack an activation may be meant (a projection): then it is a sign,
and none at all where the first of the two narrows to half or less. Silent when anything unknown stands in
between. Known mistake: a linear model that is meant as one.
"""

import ast

from traindx.evidence.detectors._script import Detector, Finding, Places, Scripts, Training, script
from traindx.evidence.detectors._script.words import NO_LOOP, code, where
from traindx.source.edit_pieces import place
from traindx.source.roles import operation
from traindx.source.values import Made, Spot, Value, number

DETECTOR = Detector(title="activation between layers missing", family="script_nonlinearity")
_ACTIVATIONS = frozenset(
    "relu sigmoid tanh leaky_relu gelu silu elu selu softplus hardtanh relu_ softmax log_softmax mish".split()
)
_SHAPING = frozenset(
    """
    flatten view reshape squeeze unsqueeze float to Dropout dropout BatchNorm1d LayerNorm contiguous Linear
    """.split()
)
_KNOWN = _ACTIVATIONS | _SHAPING


def detect(training: Training) -> Places:
    losses = [x for x in training.losses if not x.event.grad_off and x.event.loops]
    if not losses:
        return NO_LOOP
    findings: dict[int, Finding] = {}
    for loss in losses:
        chain = _chain(loss.given)
        if chain is None or sum(_linear(one) for one in chain) < 2:
            continue
        pair = _neighbours(chain)
        if pair is not None:
            nothing = not any(operation(one) in _ACTIVATIONS for one in _between(chain))
            if nothing or not _narrows(*pair):
                findings.setdefault(id(_spot(pair[1]).node), _finding(pair, whole=nothing))
    return [*findings.values()]


def _chain(value: Value) -> list[Made] | None:
    """From the loss back to the input: the operations one after the other; None when the way is not plain."""
    chain: list[Made] = []
    for _ in range(200):
        if not isinstance(value, Made) or (value.kind == "item" and value.name == "each"):
            return chain
        inner = value.args[0] if value.kind in ("apply", "call") and value.args else value.receiver
        if value.kind == "operator" or operation(value) not in _KNOWN or inner is None:
            return chain if chain and _is_data(value) else None
        chain.append(value)
        value = inner
    return None


def _is_data(value: Made) -> bool:
    """Whether a value is input data rather than a further computation of the model."""
    return value.kind in ("item", "method", "call") and operation(value) in ("", "[]", "randn", "rand")


def _linear(call: Made) -> bool:
    return operation(call) == "Linear"


def _between(chain: list[Made]) -> list[Made]:
    """What stands between the first and the last linear layer."""
    at = [number for number, one in enumerate(chain) if _linear(one)]
    return chain[at[0] : at[-1]]


def _neighbours(chain: list[Made]) -> tuple[Made, Made] | None:
    """The last two linear layers (the later one second) with no activation between them."""
    later: Made | None = None
    for one in chain:
        if _linear(one):
            if later is not None:
                return one, later
            later = one
        elif operation(one) in _ACTIVATIONS:
            later = None
    return None


def _narrows(earlier: Made, later: Made) -> bool:
    """Whether the two squeeze through a bottleneck, or it cannot be told."""
    sizes = []
    for one in (earlier, later):
        layer = one.receiver
        if isinstance(layer, Made):
            sizes += [number(layer.argument(0, "in_features")), number(layer.argument(1, "out_features"))]
    if len(sizes) < 4 or sizes[0] is None or sizes[1] is None or sizes[3] is None:
        return True
    return 2 * sizes[1] <= min(sizes[0], sizes[3])


def _spot(call: Made) -> Spot:
    """The call of the layer, or the layer itself where it stands in a sequence."""
    layer = call.receiver
    assert call.spot is not None
    in_sequence = (
        isinstance(layer, Made) and layer.spot is not None and layer.spot.node in _inside_sequence(layer)
    )
    return layer.spot if in_sequence and layer is not None and layer.spot is not None else call.spot


def _inside_sequence(layer: Made) -> set[ast.AST]:
    """The layer's own node when it is an argument of nn.Sequential."""
    assert layer.spot is not None
    around = layer.spot.source.parents.get(layer.spot.node)
    named = isinstance(around, ast.Call) and "Sequential" in ast.dump(around.func)
    return {layer.spot.node} if named or isinstance(around, ast.List) else set()


def _finding(pair: tuple[Made, Made], *, whole: bool) -> Finding:
    earlier, later = _spot(pair[0]), _spot(pair[1])
    phrase = "the model is one linear map" if whole else "these two are one linear layer"
    text = (
        f"{where(earlier)}: what {code(earlier)} gives goes into {code(later)} (line {later.line}) with no "
        f"activation between: {phrase}."
    )
    places = (place(earlier), place(later))
    if not whole:
        return Finding(text, places=places)
    return Finding(text, "silent_defect", "medium", places=places)


def fires() -> Scripts:
    yield script(forward="return self.second(self.first(x))")
    yield script(forward="x = self.first(x)\nx = F.dropout(x, 0.1, self.training)\nreturn self.second(x)")
    yield script(setup="model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 3))")


def silent() -> Scripts:
    yield script()
    yield script(forward="return self.second(torch.tanh(self.first(x)))")
    yield script(forward="return self.second(mystery(self.first(x)))")
    yield script(setup="model = nn.Linear(8, 3)")
    yield script(forward="h = self.first(x)\nreturn self.second(h * torch.sigmoid(h))")
