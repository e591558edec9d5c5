"""What stands between the layers in the script."""

import ast
import re

from traindx.evidence.detector import Cases, Detector
from traindx.evidence.detectors._script import Edit, Finding, Places, Script, Severity, Training, script
from traindx.evidence.detectors._script.words import NO_LOOP, code, where
from traindx.source.edit_pieces import place, replaced, segment
from traindx.source.execution import CallEvent
from traindx.source.roles import operation
from traindx.source.values import Made, Spot, Value, number

_ACTIVATIONS = frozenset(
    "relu sigmoid tanh leaky_relu gelu silu elu selu softplus hardtanh relu_ softmax log_softmax mish".split()
)
_SHAPING = frozenset(
    """
    flatten view reshape squeeze unsqueeze float to Dropout dropout BatchNorm1d LayerNorm contiguous Linear
    """.split()
)
_KNOWN = _ACTIVATIONS | _SHAPING
_CALLS = tuple(f"torch.nn.functional.{name}" for name in ("dropout", "dropout1d", "dropout2d", "dropout3d"))
_LAYERS = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")
_MEANT = re.compile(r"(^|_)mc(_|$)|monte|bayes|mcdropout|stochastic|corrupt|noise|augment", re.IGNORECASE)


@Detector(
    "activation between layers missing", family="script_nonlinearity", measured_by="layers_without_activation"
)
def script_nonlinearity_missing(training: Training) -> Places:
    """Linear layers follow each other with nothing between them: together they are one linear layer.

    Seen when what reaches the loss passes several linear layers and no activation anywhere between them, by
    every way. Dropout, batch norm, reshaping are no activations.

    A model in which only some neighbours lack an activation may be meant (a projection): then it is a sign,
    and none at all where the first of the two narrows to half or less. Silent when anything unknown stands
    in between. Known mistake: a linear model that is meant as one.
    """
    losses = [x for x in training.losses if not x.event.grad_off and x.event.loops]
    if not losses:
        return NO_LOOP
    findings: dict[int, Finding] = {}
    for loss in losses:
        chain = _chain(loss.given)
        if chain is None or sum(_linear(step) for step in chain) < 2:
            continue
        pair = _neighbours(chain)
        if pair is not None:
            nothing = not any(operation(step) in _ACTIVATIONS for step in _between(chain))
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
    at = [number for number, step in enumerate(chain) if _linear(step)]
    return chain[at[0] : at[-1]]


def _neighbours(chain: list[Made]) -> tuple[Made, Made] | None:
    """The last two linear layers (the later one second) with no activation between them."""
    later: Made | None = None
    for step in chain:
        if _linear(step):
            if later is not None:
                return step, later
            later = step
        elif operation(step) in _ACTIVATIONS:
            later = None
    return None


def _narrows(earlier: Made, later: Made) -> bool:
    """Whether the two squeeze through a bottleneck, or it cannot be told."""
    sizes = []
    for step in (earlier, later):
        layer = step.receiver
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
    in_sequential = isinstance(around, ast.Call) and "Sequential" in ast.dump(around.func)
    return {layer.spot.node} if in_sequential or isinstance(around, ast.List) else set()


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


@Detector("dropout always on", family="script_dropout")
def script_dropout_always_on(training: Training) -> Places:
    """Dropout that eval() cannot switch off: `F.dropout` without `training`, or made in forward().

    Seen when a model's code calls `F.dropout` with its default, which is training, or makes a new
    `nn.Dropout` at every call: it drops in validation too, which looks like worse and noisy validation
    values.

    Silent outside of models, when `training=` is given at all, and for a share of 0. Known mistake: dropout
    meant to stay on for a Monte Carlo estimate; where a name says so, nothing is reported.
    """
    findings: dict[int, Finding] = {}
    for event in training.trace.events:
        if event.value.kind != "call" or number(event.value.argument(_place(event.value), "p")) == 0:
            continue
        if _untold(event) or _made_anew(event):
            findings.setdefault(id(event.spot.node), _dropout_always_on_finding(training, event))
    return [*findings.values()]


def _place(call: Made) -> int:
    return 1 if call.name in _CALLS else 0


def _untold(event: CallEvent) -> bool:
    """The function, in a method of a module, without a word on training."""
    call = event.value
    if call.name not in _CALLS or call.open or call.argument(2, "training") is not None:
        return False
    return _in_model(event)


def _made_anew(event: CallEvent) -> bool:
    """A layer made inside forward()."""
    call = event.value
    if not call.name.startswith("torch.nn.") or call.short not in _LAYERS or not event.functions:
        return False
    return getattr(event.functions[-1], "name", "") == "forward" and _in_model(event)


def _in_model(event: CallEvent) -> bool:
    """Whether the call stands in a method with `self` of a class, and no name says that it is meant."""
    node: ast.AST | None = event.functions[-1] if event.functions else None
    names = [getattr(node, "name", "")]
    if not isinstance(node, ast.FunctionDef) or not node.args.args or node.args.args[0].arg != "self":
        return False
    holder = event.spot.source.parents.get(node)
    names.append(getattr(holder, "name", ""))
    return isinstance(holder, ast.ClassDef) and not any(_MEANT.search(name) for name in names)


def _dropout_always_on_finding(training: Training, event: CallEvent) -> Finding:
    call, evaluated = event.value, bool(training.trace.methods("eval"))
    if call.name in _CALLS:
        why = "drops in eval mode too: without `training=self.training` it is always on"
    else:
        why = "is a new layer at each call, which eval() never reaches: it always drops"
    text = f"{where(event.spot)}: {code(event.spot)} {why}."
    severity: Severity = "high" if evaluated else "medium"
    return Finding(text, "silent_defect", severity, places=(place(event.spot),), edits=_edit(event))


def _edit(event: CallEvent) -> tuple[Edit, ...]:
    written = segment(event.spot)
    if event.value.name not in _CALLS or not written.endswith(")") or written.endswith(",)"):
        return ()
    return replaced(event.spot, f"{written[:-1]}, training=self.training)", "safe")


def _forward(hidden: str, end: str = "model.eval()") -> Script:
    return script(forward=f"return self.second({hidden})", end=end)


def cases() -> Cases:
    yield from script_nonlinearity_missing.fires(
        script(forward="return self.second(self.first(x))"),
        script(forward="x = self.first(x)\nx = F.dropout(x, 0.1, self.training)\nreturn self.second(x)"),
        script(setup="model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 3))"),
    )
    yield from script_nonlinearity_missing.silent(
        script(),
        script(forward="return self.second(torch.tanh(self.first(x)))"),
        script(forward="return self.second(mystery(self.first(x)))"),
        script(setup="model = nn.Linear(8, 3)"),
        script(forward="h = self.first(x)\nreturn self.second(h * torch.sigmoid(h))"),
    )
    yield from script_dropout_always_on.fires(_forward("F.dropout(self.first(x).relu(), 0.5)"))
    yield from script_dropout_always_on.fires(_forward("F.dropout(self.first(x).relu(), p=0.2)"))
    yield from script_dropout_always_on.fires(_forward("nn.Dropout(0.5)(self.first(x).relu())"))
    yield from script_dropout_always_on.silent(
        _forward("F.dropout(self.first(x).relu(), 0.5, self.training)"),
        _forward("F.dropout(self.first(x).relu(), 0.5, training=self.training)"),
        _forward("F.dropout(self.first(x).relu(), 0.5, training=True)"),
        script(init="self.drop = nn.Dropout(0.5)", forward="return self.second(self.drop(self.first(x)))"),
        script(
            body="optimizer.zero_grad()\ncriterion(model(F.dropout(x, 0.1)), y).backward()\noptimizer.step()"
        ),
    )
