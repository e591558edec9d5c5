"""The optimizer was not given the parameters of a layer that the loss trains.

Seen when a layer stands on the way from the loss back to the input, gets gradients, and belongs to no
module whose parameters any optimizer of the script was given. Also seen when the optimizer was built
before a layer of the model was replaced: it holds the old one. With `tf.GradientTape`: the variables that
gradients are taken for belong to other layers.

Silent when the layer is frozen or runs under `no_grad()`, when no optimizer steps in the loop of the
backward pass, and when an optimizer's parameters cannot be told. Known mistake: a part that is left at its
random values on purpose.
"""

from traindx.evidence.detectors._script import Detector, Finding, Places, Scripts, Skipped, Training, script
from traindx.evidence.detectors._script.keras_samples import taped
from traindx.evidence.detectors._script.orders import ancestors
from traindx.evidence.detectors._script.words import NO_LOOP, code, loss_of, where
from traindx.source.edit_pieces import place
from traindx.source.execution import Binding, CallEvent
from traindx.source.flow import owner, parts, reach
from traindx.source.keras import is_layer, layers_of
from traindx.source.optimizer_sources import known_parameters, sources
from traindx.source.parameters import frozen, held
from traindx.source.roles import is_module
from traindx.source.training import Step
from traindx.source.values import Made, Value

DETECTOR = Detector(
    title="layer not in the optimizer", family="script_left_out", measured_by="parameters_not_held"
)
_WEIGHTED = frozenset("Dense Conv1D Conv2D Conv3D LSTM GRU Embedding Conv2DTranspose".split())
_LOADS = ("load_weights", "set_weights", "load_model", "from_pretrained", "assign")
_CUT = frozenset("stop_gradient load_model clone_model".split())
_WITH_HEAD = "optimizer.zero_grad()\nloss = criterion(head(model(x)), y)\nloss.backward()\noptimizer.step()"
_BOTH = "torch.optim.Adam([*model.parameters(), *head.parameters()], lr=1e-3)"
_SECOND = "torch.optim.Adam(model.second.parameters(), lr=1e-3)"


def detect(training: Training) -> Places:
    if training.tapes:
        return _taped(training)
    if not training.iterations:
        return NO_LOOP
    optimizers = {id(o): o for step in training.steps for o in step.optimizers}
    if not all(known_parameters(optimizer) for optimizer in optimizers.values()):
        return Skipped("optimizers whose parameters can be read from the script")
    ours, still = held(training), frozen(training)
    findings: dict[int, Finding] = {}
    for backward in (b for b in training.backwards if b.loops and not b.handed and _steps_of(training, b)):
        lost = [x for x in reach(loss_of(backward)).alive if id(x) not in ours and id(x) not in still]
        for layer in lost:
            if not _trained_otherwise(training, layer):
                findings.setdefault(id(layer), _finding(training, layer, backward))
    return [*_replaced(training), *findings.values()][:3]


def _taped(training: Training) -> list[Finding]:
    """Layers in the way of a tape's loss that belong to no model whose variables are trained anywhere."""
    trace = training.trace
    owners = [tape.owners for tape in training.tapes]
    freezes = any(b.name == "trainable" for b in trace.bindings)
    loaded = trace.methods(*_LOADS) or any(e.value.short in _CUT or e.value.open for e in trace.events)
    if None in owners or freezes or loaded or trace.methods("fit", "train_on_batch"):
        return []
    held_models = [model for models in owners if models is not None for model in models]
    ours = {id(part) for model in held_models for part in (model, *layers_of(trace, model))}
    findings: dict[int, Finding] = {}
    for step in training.tapes:
        for layer in _weighted(step.loss):
            if id(layer) not in ours and layer.spot is not None and step.event.loops:
                text = (
                    f"{where(layer.spot)}: {code(layer.spot)} is on the way to the loss, but the variables "
                    f"that {code(step.event.spot)} (line {step.event.spot.line}) trains are of other layers."
                )
                places = (place(step.event.spot), place(layer.spot))
                findings.setdefault(id(layer), Finding(text, "silent_defect", "high", places=places))
    return [*findings.values()][:1]


def _weighted(loss: Value) -> list[Made]:
    """The layers of Keras with weights that a loss was computed through."""
    applied = [c for c in ancestors(loss) if isinstance(c, Made) and c.kind == "apply"]
    layers = [c.receiver for c in applied if isinstance(c.receiver, Made) and is_layer(c.receiver)]
    return [layer for layer in layers if isinstance(layer, Made) and layer.short in _WEIGHTED]


def _trained_otherwise(training: Training, layer: Value) -> bool:
    """Whether the layer's parameters go anywhere else: to a group, a list, another optimizer."""
    asking = ("parameters", "named_parameters", "add_param_group", "children", "modules")
    clips = [e for e in training.trace.events if e.value.short.startswith("clip_grad")]
    clipped = {id(arg) for e in clips for arg in e.value.args}
    for event in training.trace.methods(*asking):
        if id(event.value) in clipped:
            continue
        receiver = event.value.receiver
        if receiver is not None and (receiver is layer or any(part is layer for part in parts(receiver))):
            return True
    return not isinstance(layer, Made) or layer.name.endswith("Parameter")


def _replaced(training: Training) -> list[Finding]:
    """Layers put in the place of others after the optimizer was built."""
    calls = {id(e.value): e for e in training.trace.events if e.value.kind == "call"}
    findings: dict[int, Finding] = {}
    for optimizer in (o for step in training.steps for o in step.optimizers if id(o) in calls):
        built = calls[id(optimizer)]
        owners = {id(part) for module in sources(optimizer) for part in [module, *parts(module)]}
        for binding in training.trace.bindings:
            late = binding.at > built.at and id(binding.owner) in owners and not binding.loops
            if late and is_module(binding.value) and _takes_a_place(training, binding):
                text = (
                    f"{where(binding.spot)}: {code(binding.spot)} puts a new layer into the model after the "
                    f"optimizer was built in line {built.spot.line}: the optimizer holds the old one."
                )
                places = (place(binding.spot), place(built.spot))
                findings.setdefault(
                    id(binding.spot.node), Finding(text, "silent_defect", "high", places=places)
                )
    return [*findings.values()]


def _takes_a_place(training: Training, binding: Binding) -> bool:
    """Whether a layer stood there before, and the new one is not given to the optimizer afterwards."""
    before = [
        earlier
        for earlier in training.trace.bindings
        if earlier.owner is binding.owner and earlier.name == binding.name and earlier.at < binding.at
    ]
    replaced = binding.name == "[]" or any(is_module(earlier.value) for earlier in before)
    return replaced and not training.trace.methods("add_param_group")


def _steps_of(training: Training, backward: CallEvent) -> list[Step]:
    """The steps in the loop of a backward pass; without any, its parameters are updated by hand or never."""
    return [step for step in training.steps if backward.loop in step.event.loops]


def _stepping(training: Training, backward: CallEvent) -> Value | None:
    """The optimizer that steps next after a backward pass."""
    steps = _steps_of(training, backward)
    later = [step for step in steps if step.event.at > backward.at] or steps
    return later[0].optimizers[0] if later and later[0].optimizers else None


def _finding(training: Training, layer: Value, backward: CallEvent) -> Finding:
    spot = layer.spot
    assert spot is not None
    holder = owner(layer, training.trace.instances)
    name = f" (`{holder[1]}`)" if holder else ""
    optimizer = _stepping(training, backward)
    first_made = optimizer.spot if optimizer is not None else None
    at = f" of line {first_made.line}" if first_made is not None else ""
    text = (
        f"{where(spot)}: {code(spot)}{name} is trained by the loss, but no optimizer holds it: the one{at} "
        "was not given its parameters."
    )
    places = [place(first_made)] if first_made is not None else []
    return Finding(text, "silent_defect", "high", places=(*places, place(spot)))


def fires() -> Scripts:
    yield script(setup="head = nn.Linear(3, 3)", body=_WITH_HEAD)
    yield script(optimizer="torch.optim.Adam(model.second.parameters(), lr=1e-3)")
    yield script(after="model.second = nn.Linear(16, 3)")
    yield taped(loss=_CODED, setup=_ENCODER)


_ENCODER = 'encoder = keras.Sequential([keras.Input((8,)), layers.Dense(8, activation="relu")])'
_CODED = "loss_fn(b, model(encoder(a, training=True), training=True))"


def silent() -> Scripts:
    yield taped()
    yield taped(
        loss=_CODED, setup=_ENCODER, variables="encoder.trainable_variables + model.trainable_variables"
    )
    yield taped(loss=_CODED, setup=_ENCODER + "\nencoder.trainable = False")
    yield taped(loss=_CODED, setup=_ENCODER + "\nencoder.load_weights('e.h5')")
    yield script()
    yield script(setup="head = nn.Linear(3, 3)", optimizer=_BOTH, body=_WITH_HEAD)
    yield script(
        setup="model.first.requires_grad_(False)", optimizer="torch.optim.SGD(model.second.parameters(), 0.1)"
    )
    yield script(optimizer="torch.optim.Adam(get_parameters(model), lr=1e-3)")
    yield script(setup="for p in model.first.parameters():\n    p.requires_grad = False", optimizer=_SECOND)
