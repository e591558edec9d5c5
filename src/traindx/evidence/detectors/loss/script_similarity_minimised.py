"""A similarity is handed to backward as it is: training makes it smaller.

Seen when what is backpropagated is a cosine similarity or the log-probability of a distribution, averaged or
summed and nothing else: no minus, no `1 -`, no other term, no weight. The optimizer then drives apart what
belongs together.

Silent for sums with other terms (negatives are pushed apart on purpose), for products (policy gradients), and
where gradients are turned in the optimizer (`maximize=True`). Known mistakes: a script that wants two things
unlike and nothing else.
"""

from traindx.evidence.detectors._script import Detector, Finding, Places, Scripts, Training, script
from traindx.evidence.detectors._script.words import NO_LOOP, code, loss_of, where
from traindx.source.edit_pieces import place
from traindx.source.values import Made, Value, options

DETECTOR = Detector(title="similarity made smaller", family="loss_form")
_KEEPS_SIGN = frozenset({"mean", "sum", "squeeze", "view", "reshape", "flatten", "float"})
_FUNCTIONS = ("torch.nn.functional.cosine_similarity", "torch.cosine_similarity")
_MODULES = ("torch.nn.CosineSimilarity", "torch.nn.modules.distance.CosineSimilarity")


def detect(training: Training) -> Places:
    if not training.backwards:
        return NO_LOOP
    if _maximises(training) or len(training.backwards) != 1:
        return []
    findings: dict[int, Finding] = {}
    for event in training.backwards:
        ends = [_stripped(one) for one in options(loss_of(event))]
        if not ends or any(one is None for one in ends):
            continue
        similarity = next(one for one in ends if one is not None)
        spot = similarity.spot or event.spot
        text = (
            f"{where(spot)}: {code(spot)} is made smaller by every step, for backward gets it with its own "
            "sign: a similarity or a log-probability wants a minus, or `1 -`, before it."
        )
        findings.setdefault(
            id(spot.node), Finding(text, "silent_defect", severity="high", places=(place(spot),))
        )
    return [*findings.values()]


def _stripped(value: Value) -> Made | None:
    """The similarity below means and sums; None when anything else is there."""
    while isinstance(value, Made):
        if value.kind == "call" and value.name in _FUNCTIONS:
            return value
        if value.kind == "apply" and isinstance(value.receiver, Made) and value.receiver.name in _MODULES:
            return value
        if value.kind == "method" and value.name == "log_prob":
            return value
        inner = value.receiver if value.kind == "method" else value.args[0] if value.args else None
        if value.short not in _KEEPS_SIGN or value.kind not in ("method", "call") or inner is None:
            return None
        value = inner
    return None


def _maximises(training: Training) -> bool:
    made = [one for step in training.steps for one in step.optimizers if isinstance(one, Made)]
    return any("maximize" in one.keywords for one in made)


_BODY = "optimizer.zero_grad()\nloss = {}\nloss.backward()\noptimizer.step()"
_COSINE = "F.cosine_similarity(model(x), y, dim=-1).mean()"


def fires() -> Scripts:
    yield script(body=_BODY.format(_COSINE))
    yield script(
        setup="similarity = nn.CosineSimilarity()", body=_BODY.format("similarity(model(x), y).mean()")
    )


def silent() -> Scripts:
    yield script(body=_BODY.format("-" + _COSINE))
    yield script(body=_BODY.format("1 - " + _COSINE))
    yield script(body=_BODY.format("(1 - F.cosine_similarity(model(x), y)).mean()"))
    yield script(body=_BODY.format("F.mse_loss(model(x), y) + 0.1 * " + _COSINE))
