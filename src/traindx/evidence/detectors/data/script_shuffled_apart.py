"""Inputs are shuffled and labels are not, or by another order.

Seen when inputs and targets that belong together (a dataset, Keras' `fit`, a loss) went through random orders
of which they share none: two permutations, a permutation of one of them only, a shuffle in place of one, or
a batch of inputs drawn at random beside a stretch of the labels. In tf.data: streams shuffled before `zip`;
in JAX: `jax.random.permutation` of inputs and labels with different keys.

Silent when they share an order or one is computed from the other. Known mistake: labels that are shuffled on
purpose, as a control; where their name says so, nothing is reported.
"""

import re

from traindx.evidence.detector import Detector, Finding, Skipped
from traindx.evidence.detectors._script import Places, Script, Scripts, Training, script
from traindx.evidence.detectors._script.jax_orders import permuted_apart
from traindx.evidence.detectors._script.keras_samples import fitted
from traindx.evidence.detectors._script.orders import (
    ancestors,
    chain,
    indexed,
    is_order,
    orders,
    shuffles_in_place,
)
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place
from traindx.source.execution import CallEvent
from traindx.source.roles import LossCall
from traindx.source.script import parse_script
from traindx.source.values import Instance, ListValue, Made, Spot, Value, number

DETECTOR = Detector(
    title="inputs and labels shuffled apart", family="script_shuffle", measured_by="labels_unrelated"
)
_MEANT = re.compile(r"rand|shuf|perm|control|corrupt|nois|null|negat", re.IGNORECASE)
_MADE = frozenset("zeros ones full empty zeros_like ones_like full_like arange rand randn eye".split())


def detect(training: Training) -> Places:
    permuted = [_permuted(*pair) for pair in permuted_apart(training.script)]
    if permuted:
        return permuted
    pairs = [(e, e.value.args[0], e.value.args[1]) for e in training.trace.events if _is_pair(e)]
    losses = [loss for loss in training.losses if loss.target is not None and not loss.event.grad_off]
    zipped = [e for e in training.trace.calls if e.value.name == "tensorflow.data.Dataset.zip"]
    if not pairs and not losses and not zipped:
        return Skipped("inputs and targets that go together")
    findings = {id(e.spot.node): _finding(e, by) for e in zipped if (by := _streams_apart(e)) is not None}
    for event, x, y in pairs:
        by = _by_order(training, x, y) or _in_place(training, event, x, y)
        if by is not None and not _intended(training, y):
            findings.setdefault(id(event.spot.node), _finding(event, by))
    for loss in losses:
        drawn = _drawn_apart(training, loss)
        if drawn is not None and loss.target is not None and not _intended(training, loss.target):
            findings.setdefault(id(loss.event.spot.node), _finding(loss.event, drawn))
    return [*findings.values()]


def _permuted(by: Spot, x: Spot) -> Finding:
    text = (
        f"{where(by)}: {code(by)} puts the labels in another order than line {x.line} the inputs: labels "
        "no longer belong to their inputs."
    )
    return Finding(text, "silent_defect", "high", places=(place(by), place(x)))


def _is_pair(event: CallEvent) -> bool:
    call = event.value
    if len(call.args) < 2:
        return False
    own = isinstance(call.receiver, Instance) and call.kind == "call" and len(call.args) == 2
    if own and isinstance(call.receiver, Instance):
        return any(name.endswith("Dataset") for name in call.receiver.cls.library_bases)
    return call.short == "TensorDataset" or (call.kind == "method" and call.name == "fit")


def _streams_apart(event: CallEvent) -> Made | None:
    """The shuffle of one of two streams of tf.data that are zipped afterwards, in orders of their own."""
    pair = event.value.args[0] if len(event.value.args) == 1 else None
    streams = pair.items if isinstance(pair, ListValue) else event.value.args
    shuffles = [_stream_shuffle(stream) for stream in streams]
    seeds = [number(shuffle.argument(1, "seed")) if shuffle is not None else None for shuffle in shuffles]
    if len(streams) != 2 or not any(shuffles) or (seeds[0] is not None and seeds[0] == seeds[1]):
        return None
    return shuffles[1] or shuffles[0]


def _stream_shuffle(value: Value) -> Made | None:
    """The `shuffle` that the elements of a stream went through."""
    while isinstance(value, Made) and value.kind == "method" and value.receiver is not None:
        if value.name == "shuffle":
            return value
        value = value.receiver
    return None


def _by_order(training: Training, x: Value, y: Value) -> Made | None:
    """A random order, drawn anew in a loop or once before, that only one of two went through."""
    anew = {id(e.value) for e in training.trace.events if e.loops and is_order(e.value, draws=True)}
    behind_x, behind_y = ({id(ancestor) for ancestor in ancestors(value)} for value in (x, y))
    all_mine, all_yours = orders(x, draws=True), orders(y, draws=True)
    for inside in (True, False):
        mine, yours = (
            {key: by for key, by in side.items() if (key in anew) == inside and (inside or is_order(by))}
            for side in (all_mine, all_yours)
        )
        shared = mine.keys() & behind_y or yours.keys() & behind_x
        alone = (not mine and _orderless(x)) or (not yours and _orderless(y))
        if (mine or yours) and not shared and not alone:
            return next(iter((yours or mine).values()))
    return None


def _orderless(value: Value) -> bool:
    """Whether the rows of a tensor are all alike, or drawn at random themselves."""
    steps = chain(value)
    return bool(steps) and steps[-1].short in _MADE


def _in_place(training: Training, event: CallEvent, x: Value, y: Value) -> Made | None:
    """A shuffle in place of one of two; of both, where nothing sets the generator back in between."""
    roots = [{id(step) for step in chain(value)} for value in (x, y)]
    behind = [{id(ancestor) for ancestor in ancestors(value)} for value in (x, y)]
    shuffled: list[list[CallEvent]] = [[], []]
    for shuffle in shuffles_in_place(training):
        array = id(shuffle.value.args[0])
        for side in (0, 1):
            shared = array in behind[1 - side]
            if shuffle.at < event.at and array in roots[side] and not shared:
                shuffled[side].append(shuffle)
    alone = (not shuffled[0] and _orderless(x)) or (not shuffled[1] and _orderless(y))
    if not (shuffled[0] or shuffled[1]) or alone:
        return None
    if (
        shuffled[0]
        and shuffled[1]
        and training.trace.named("numpy.random.seed", "numpy.random.set_state", "random.seed")
    ):
        return None
    return (shuffled[1] or shuffled[0])[0].value


def _drawn_apart(training: Training, loss: LossCall) -> Made | None:
    """Rows of a model's inputs in another order than those of the targets."""
    target = loss.target
    if target is None or not indexed(target):
        return None
    behind = [value for value in ancestors(loss.given) if isinstance(value, Made)]
    for x in [arg for call in behind if call.kind == "apply" for arg in call.args]:
        by = _by_order(training, x, target) or _in_place(training, loss.event, x, target)
        if by is not None and indexed(x):
            return by
    return None


def _intended(training: Training, y: Value) -> bool:
    """Whether a name says that labels are shuffled on purpose."""
    steps = {id(step) for step in chain(y)}
    return any(id(b.value) in steps and _MEANT.search(b.name) for b in training.trace.bindings)


def _finding(event: CallEvent, by: Made) -> Finding:
    spot = by.spot or event.spot
    text = (
        f"{where(spot)}: {code(spot)} puts one of inputs and targets in another order than the other "
        f"before line {event.spot.line}: labels no longer belong to their inputs."
    )
    return Finding(text, "silent_defect", "high", places=(place(spot), place(event.spot)))


_BATCH = "optimizer.zero_grad()\nloss = criterion(model(X[{x}]), Y[{y}])\nloss.backward()\noptimizer.step()"


def _drawn(x: str, y: str) -> Script:
    return script(
        start="order = torch.randperm(100)\nother = torch.randperm(100)", body=_BATCH.format(x=x, y=y)
    )


_PERMUTED = """
import jax
x = jax.random.permutation(k1, x)
y = jax.random.permutation({key}, y)
step = jax.jit(lambda p, x, y: jax.grad(loss)(p, x, y))
"""


def fires() -> Scripts:
    yield parse_script(_PERMUTED.format(key="k2"))
    yield script(setup="X = X[torch.randperm(100)]\ny = y[torch.randperm(100)]\ndata = TensorDataset(X, y)")
    yield script(setup="X = np.load('x.npy')\nnp.random.shuffle(X)\ndata = TensorDataset(torch.tensor(X), y)")
    yield script(setup="X, y = load()\nX = X[np.random.permutation(len(X))]\ndata = TensorDataset(X, y)")
    yield fitted(fit="sample_weight=tf.data.Dataset.zip((x.shuffle(9), y.shuffle(9)))")
    yield _drawn("order[i:i + 8]", "i:i + 8")
    yield _drawn("order[i:i + 8]", "other[i:i + 8]")


def silent() -> Scripts:
    yield parse_script(_PERMUTED.format(key="k1"))
    yield script(setup="order = torch.randperm(100)\ndata = TensorDataset(X[order], y[order])")
    yield script(setup="data = TensorDataset(X, y)")
    yield fitted(fit="sample_weight=tf.data.Dataset.zip((x, y)).shuffle(9)")
    yield fitted(fit="sample_weight=tf.data.Dataset.zip((x.shuffle(9, seed=1), y.shuffle(9, seed=1)))")
    yield script(setup="X = X[torch.randperm(100)]\ny = label(X)\ndata = TensorDataset(X, y)")
    yield script(setup="X, y = load()\nX = X[:, torch.randperm(8)]\ndata = TensorDataset(X, y)")
    yield script(setup="X = X[torch.randperm(100)]\ndata = TensorDataset(X, torch.zeros(100))")
    yield _drawn("order[i:i + 8]", "order[i:i + 8]")
