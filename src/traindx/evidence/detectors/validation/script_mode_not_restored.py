"""The model is trained in eval mode: nothing switches it back after eval().

Seen when `eval()` is called on the model that is trained, in a loop around the training (after each epoch's
validation, say) or before it, and no `train()` comes between it and the next backward pass. It matters with
dropout or batch norm in the model; where the model is known to have neither, it is told as a sign. A
`train()` that stands before the loop, instead of in it, is named as the place. With `tf.GradientTape`: a
model with such layers is called without `training=True`.

Silent when a framework switches modes and when the model that is switched is not the one that is trained.
Known mistake: a model kept in eval mode on purpose to freeze its batch norm.
"""

from traindx.evidence.detector import Detector, Finding, Severity, Skipped
from traindx.evidence.detectors._script import Edit, Places, Script, Scripts, Training
from traindx.evidence.detectors._script.keras_samples import taped
from traindx.evidence.detectors._script.words import NO_LOOP, code, where
from traindx.source.attributes import lookup
from traindx.source.edit_pieces import place, put_before, segment
from traindx.source.execution import CallEvent, Loop, Trace
from traindx.source.flow import parts
from traindx.source.keras import layers_of
from traindx.source.parameters import frozen, held
from traindx.source.roles import is_module
from traindx.source.script import parse_script
from traindx.source.tapes import TAPE
from traindx.source.values import Const, Function, Instance, Made, Spot, Unknown, Value, options

DETECTOR = Detector(
    title="eval mode never switched back", family="script_mode", measured_by="trains_in_eval_mode"
)
_KERAS_MODAL = ("Dropout", "BatchNormalization", "SpatialDropout1D", "SpatialDropout2D", "GaussianDropout")
_MODAL = ("Dropout", "BatchNorm", "InstanceNorm", "AlphaDropout", "SyncBatchNorm", "RReLU")


def detect(training: Training) -> Places:
    if training.tapes:
        return _taped(training)
    backwards = [e for e in training.backwards if e.loops and not e.handed]
    if not backwards:
        return NO_LOOP
    if training.managed or not training.followed("train"):
        return Skipped("a training loop of the script's own that can be followed")
    findings: dict[int, Finding] = {}
    for event in training.trace.methods("eval", "train"):
        if _is_eval(event) and not event.handed:
            backward = next((b for b in backwards if _stays(training, event, b)), None)
            if backward is not None:
                once = _once(training, event, backward)
                findings.setdefault(id(event.spot.node), _finding(event, backward, once))
    return [*findings.values()]


def _taped(training: Training) -> list[Finding]:
    """Models with dropout or batch norm that a tape trains and that are called without `training=True`."""
    trace = training.trace
    trained = {id(owner) for step in training.tapes for owner in step.owners or ()}
    findings: dict[int, Finding] = {}
    for event in (e for e in trace.events if e.value.kind == "apply" and TAPE in e.contexts):
        call, model = event.value, event.value.receiver
        plain = len(call.args) == 1 and not call.open and "training" not in call.keywords
        modal = [layer for layer in layers_of(trace, model) if layer.short in _KERAS_MODAL]
        if id(model) in trained and plain and modal and not _trains_by_itself(trace, model, modal):
            text = (
                f"{where(event.spot)}: {code(event.spot)} has no `training=True`: `{modal[0].short}` of the "
                "model works as in evaluation while it is trained."
            )
            findings.setdefault(
                id(event.spot.node), Finding(text, "silent_defect", "medium", places=(place(event.spot),))
            )
    return [*findings.values()]


def _trains_by_itself(trace: Trace, model: Value | None, modal: list[Made]) -> bool:
    """Whether the mode is set elsewhere: in the model's own `call`, for a layer, or for all."""
    applied = [e.value for e in trace.events if e.value.kind == "apply" and e.value.receiver in modal]
    phase = any(e.value.short == "set_learning_phase" for e in trace.events)
    still = any(b.name == "trainable" for b in trace.bindings)
    method = lookup(model.cls, "call") if isinstance(model, Instance) else None
    own = method is not None and isinstance(method[0], Function) and bool(method[0].node.args.defaults)
    return phase or still or own or any("training" in call.keywords for call in applied)


def _is_eval(event: CallEvent) -> bool:
    mode = event.value.argument(0, "mode")
    switched_off = event.value.name == "train" and isinstance(mode, Const) and mode.value is False
    return switched_off or (event.value.name == "eval" and not event.value.args)


def _stays(training: Training, event: CallEvent, backward: CallEvent) -> bool:
    """Whether the backward pass comes after the switch with no way back in between."""
    model = event.value.receiver
    if event.root is not backward.root or not _trained(training, model, backward):
        return False
    back = [e for e in training.trace.methods("train") if not _is_eval(e)]
    loop = _shared_loop(event, backward)
    if event.at < backward.at:
        certain = event.arms == backward.arms[: len(event.arms)]
        return certain and not any(event.at < s.at < backward.at for s in back)
    if loop is None:
        return False
    start = min((b.at for b in training.backwards if loop in b.loops), default=backward.at)
    inner = [s for s in back if loop in s.loops]
    return not any(s.at > event.at or s.at < start for s in inner)


def _once(training: Training, event: CallEvent, backward: CallEvent) -> CallEvent | None:
    """The `train()` that stands before the loop in which the model is switched off again and again."""
    loop = _shared_loop(event, backward)
    if loop is None or event.at < backward.at:
        return None
    before = [
        s
        for s in training.trace.methods("train")
        if not _is_eval(s) and s.at < loop.at and not s.handed and s.root is backward.root
    ]
    models = options(event.value.receiver)
    switches = [s for s in before if any(model in models for model in options(s.value.receiver))]
    return switches[-1] if switches else None


def _shared_loop(event: CallEvent, backward: CallEvent) -> Loop | None:
    shared = [loop for loop in event.loops if loop in backward.loops]
    return shared[-1] if shared else None


def _trained(training: Training, model: Value | None, backward: CallEvent) -> bool:
    """Whether the model is called, with gradients on, in the loop of the backward pass."""
    still = frozen(training)
    if not any(
        is_module(way) and id(way) in held(training) and id(way) not in still for way in options(model)
    ):
        return False
    calls = [e for e in training.trace.events if e.value.kind == "apply" and not e.grad_off]
    inner = [e for e in calls if backward.loop in e.loops and e.at < backward.at]
    return any(e.value.receiver is way for e in inner for way in options(model)) or any(
        isinstance(way, Made) and any(e.value.receiver is part for e in inner for part in parts(way))
        for way in options(model)
    )


def _modal(model: Value) -> bool | None:
    """Whether a model has layers that know modes; None when not all of it is known."""
    inner = [model, *parts(model)]
    if any(isinstance(m, Made) and m.short.startswith(_MODAL) for m in inner):
        return True
    unknown = any(isinstance(m, Unknown) or (isinstance(m, Made) and not _plain(m)) for m in inner)
    return None if unknown else False


def _plain(call: Made) -> bool:
    return call.kind != "call" or call.name.startswith(("torch.nn.", "torch.")) or call.name.islower()


def _finding(event: CallEvent, backward: CallEvent, once: CallEvent | None) -> Finding:
    model = options(event.value.receiver)[0]
    modal = _modal(model)
    again = "before" if event.at < backward.at else "in the next pass of the loop"
    text = (
        f"{where(event.spot)}: after {code(event.spot)} nothing calls train() before "
        f"{code(backward.spot)} (line {backward.spot.line}) comes {again}: the model is trained in eval mode."
    ).replace("comes before", "comes")
    spots = [event.spot, backward.spot]
    if once is not None:
        text = f"{text[:-1]}; {code(once.spot)} (line {once.spot.line}) is before the loop, not in it."
        spots = [once.spot, *spots]
    places = tuple(place(spot) for spot in spots)
    if modal is False:
        text = f"{text[:-1]}, which changes nothing without dropout or batch norm."
        return Finding(text, places=places)
    severity: Severity = "high" if modal else "medium"
    return Finding(text, "silent_defect", severity, places=places, edits=_edit(event, backward))


def _edit(event: CallEvent, backward: CallEvent) -> tuple[Edit, ...]:
    """`train()` at the head of the loop over the batches."""
    import ast

    node, loop = event.spot.node, backward.loop
    if loop is None or event.functions != backward.functions or not isinstance(node, ast.Call):
        return ()
    if not isinstance(node.func, ast.Attribute):
        return ()
    model = segment(Spot(event.spot.source, node.func.value))
    return put_before(loop.spot, f"{model}.train()", "ask")


_TRAIN = """
import torch, torch.nn as nn
model = nn.Sequential(nn.Linear(4, 8), nn.{layer}, nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
{before}
for epoch in range(3):
    {start}
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    {end}
"""


def _script(layer: str = "Dropout(0.2)", **parts_: str) -> Script:
    filled = {name: parts_.get(name, "pass") for name in ("before", "start", "end")}
    return parse_script(_TRAIN.format(layer=layer, **filled))


_DROPPED = 'layers.Dense(32, activation="relu"), layers.Dropout(0.3), layers.Dense(3)'


def fires() -> Scripts:
    yield _script(end="model.eval(); evaluate(model)")
    yield _script(layer="BatchNorm1d(8)", before="model.train()", end="model.eval()")
    yield _script(before="model.eval()")
    yield taped(_DROPPED, "loss_fn(b, model(a))")


def silent() -> Scripts:
    yield _script(start="model.train()", end="model.eval(); evaluate(model)")
    yield taped(_DROPPED)
    yield taped(loss="loss_fn(b, model(a))")
    yield _script(end="model.eval(); evaluate(model); model.train()")
    yield _script(before="teacher = nn.Sequential(nn.Dropout(0.1))", end="teacher.eval()")
    yield _script(before="model.eval(); model.train()")
    yield _script()
