"""The model is validated in train mode: dropout drops and batch norm learns from validation data.

Seen when a model with dropout or batch norm that the optimizer trains is called under `no_grad()` outside
the training loop, and `eval()` was not called on it before.

Silent inside the training loop (targets of the model's own are computed there), when a framework switches
modes, and when the model has neither layer. Known mistake: dropout that is kept on purpose to sample.
"""

from traindx.evidence.detectors._script import (
    Detector,
    Finding,
    Iterations,
    Places,
    Scripts,
    Skipped,
    Training,
    script,
)
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place
from traindx.source.execution import CallEvent
from traindx.source.flow import parts
from traindx.source.parameters import held
from traindx.source.values import Const, Made, Value, options

DETECTOR = Detector(title="validated in train mode", family="script_mode")
_MODAL = ("Dropout", "BatchNorm", "AlphaDropout", "SyncBatchNorm")
_OWN_TARGET = (
    "with torch.no_grad(): t = model(x)\noptimizer.zero_grad()\n"
    "criterion(model(x), t).backward()\noptimizer.step()"
)
_DROPOUT = "self.drop = nn.Dropout(0.3)"
_VALIDATE = "with torch.no_grad():\n    for a, b in val_loader: score = criterion(model(a), b).item()"


def detect(training: Training, iterations: Iterations) -> Places:
    if training.managed or not training.followed("eval"):
        return Skipped("a training loop of the script's own that can be followed")
    calls = [e for e in training.trace.events if e.value.kind == "apply" and e.grad_off and e.root is None]
    loops = {one.loop for one in iterations}
    outside = [e for e in calls if e.loops and not loops & set(e.loops) and not e.handed]
    if not outside:
        return Skipped("validation under no_grad()")
    ours = held(training)
    findings: dict[int, Finding] = {}
    for event in outside:
        model = event.value.receiver
        if (
            model is not None
            and id(model) in ours
            and _modal(model)
            and not _evaluating(training, event, model)
        ):
            findings.setdefault(id(event.spot.node), _finding(event))
    return [*findings.values()]


def _modal(model: Value) -> bool:
    """Whether a model has layers that act otherwise in training."""
    return any(isinstance(one, Made) and one.short.startswith(_MODAL) for one in [model, *parts(model)])


def _evaluating(training: Training, event: CallEvent, model: Value) -> bool:
    """Whether the last switch before the call was eval(), on the model or on anything that may hold it."""
    state = False
    for switch in training.trace.methods("eval", "train"):
        if switch.at >= event.at:
            break
        concerned = [one for one in options(switch.value.receiver) if one is model or not _apart(one, model)]
        if concerned:
            mode = switch.value.argument(0, "mode")
            off = isinstance(mode, Const) and mode.value is False
            unsure = mode is not None and not isinstance(mode, Const)
            state = switch.value.name == "eval" or off or unsure
    return state


def _apart(one: Value, model: Value) -> bool:
    """Whether two are surely different models, neither inside the other."""
    inner = {id(part) for part in parts(one)} | {id(part) for part in parts(model)}
    return id(one) not in inner and id(model) not in inner and one.spot is not None and hasattr(one, "cls")


def _finding(event: CallEvent) -> Finding:
    text = (
        f"{where(event.spot)}: {code(event.spot)} runs the model on validation data in train mode: nothing "
        "calls eval() before it, and the model has dropout or batch norm."
    )
    return Finding(text, "silent_defect", "medium", places=(place(event.spot),))


def fires() -> Scripts:
    yield script(init=_DROPOUT, end=_VALIDATE)
    yield script(init="self.norm = nn.BatchNorm1d(16)", end="model.train()\n" + _VALIDATE)


def silent() -> Scripts:
    yield script(init=_DROPOUT, end="model.eval()\n" + _VALIDATE)
    yield script(end=_VALIDATE)
    yield script(init=_DROPOUT)
    yield script(init=_DROPOUT, body=_OWN_TARGET)
