"""Training and validation use the same data.

Seen when two loaders are made of the same data, one of them feeding the training loop and the other a loop
without gradients; when tensors that bear the name of validation or test data are those that are trained on,
or a stretch of the same data that overlaps theirs; and when Keras' `fit` is given its training data as
`validation_data`.

Silent when the datasets are subsets, or a sampler chooses what a loader sees. A loader over the training
data beside one over other data may be meant to measure the training score: silent, too. Known mistake: a
test of overfitting on purpose.
"""

import re

from traindx.evidence.detectors._script import Detector, Finding, Places, Scripts, Skipped, Training, script
from traindx.evidence.detectors._script.same_data import alike, data_of, overlap
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place
from traindx.source.parameters import held
from traindx.source.values import ListValue, Made, Spot, Value, options

DETECTOR = Detector(
    title="same data for training and validation", family="script_split", measured_by="validation_seen"
)
_LOADERS = (
    "data = TensorDataset(torch.randn(9, 8), torch.zeros(9).long())\n"
    "train_loader = DataLoader(data, shuffle=True)\nval_loader = DataLoader({})"
)
_HELD_OUT = re.compile(
    r"(^|_)(val|valid|validation|test|dev|holdout|held)(_|$|\d)|^[xy](v|va|val|te|test)$", re.I
)
_VALIDATE = "with torch.no_grad():\n    for a, b in val_loader: score = criterion(model(a), b).item()"


def detect(training: Training) -> Places:
    findings = _keras(training) + _tensors(training)
    loaders = [e for e in training.trace.events if e.value.kind == "call" and e.value.short == "DataLoader"]
    if len(loaders) < 2 or not training.iterations:
        return findings or Skipped("loaders of training and validation data")
    trained = {
        id(value)
        for iteration in training.iterations
        for loop in iteration.step.event.loops
        for value in _over(loop.over)
    }
    train = [e for e in loaders if id(e.value) in trained]
    held_out = [e for e in loaders if id(e.value) not in trained]
    for event in held_out:
        twin = next((loader for loader in train if _same_data(loader.value, event.value)), None)
        if twin is not None and all(_same_data(twin.value, loader.value) for loader in held_out):
            joined = _joined(twin.value)
            findings.append(_finding(joined.spot or event.spot if joined else event.spot, twin.spot))
    return findings[:1]


def _over(value: Value | None) -> list[Value]:
    """What a loop runs over, wrapped or not."""
    values = []
    for option in options(value):
        inner: Value = option
        for _ in range(4):
            values.append(inner)
            if not isinstance(inner, Made) or not inner.args:
                break
            inner = inner.args[0]
    return values


def _same_data(first: Made, second: Made) -> bool:
    mine, yours = first.argument(0, "dataset"), second.argument(0, "dataset")
    chosen = {"sampler", "batch_sampler"} & (first.keywords.keys() | second.keywords.keys())
    joined = _joined(first)
    inner = joined.args[0] if joined is not None and joined.args else None
    parts = [mine, *(inner.items if isinstance(inner, ListValue) else [])]
    return any(alike(part, yours) for part in parts) and not chosen


def _joined(loader: Made) -> Made | None:
    """The join of several data sets that a loader runs over."""
    data = loader.argument(0, "dataset")
    return data if isinstance(data, Made) and data.short == "ConcatDataset" else None


def _tensors(training: Training) -> list[Finding]:
    """Data that the model is validated on by name and trained on in truth."""
    ours, loops = held(training), {iteration.loop for iteration in training.iterations}
    calls = [e for e in training.trace.events if e.value.kind == "apply" and id(e.value.receiver) in ours]
    calls = [e for e in calls if e.value.args and not e.handed]
    trained = [data_of(e.value.args[0]) for e in calls if loops & set(e.loops) and not e.grad_off]
    findings: dict[int, Finding] = {}
    for event in (e for e in calls if e.grad_off and not loops & set(e.loops)):
        data = data_of(event.value.args[0])
        names = [b for b in training.trace.bindings if b.value is data and _HELD_OUT.search(b.name)]
        shared = any(alike(t, data) or overlap(training.trace, t, data) for t in trained if t.spot)
        if names and shared and isinstance(data, Made) and data.spot is not None:
            spots = [t.spot for t in trained if t.spot is not None]
            findings.setdefault(id(data), _finding(names[0].spot, spots[0]))
    return [*findings.values()]


def _keras(training: Training) -> list[Finding]:
    findings = []
    for event in training.trace.methods("fit"):
        validation, data = event.value.keywords.get("validation_data"), event.value.args[:2]
        if isinstance(validation, ListValue) and data and validation.items and validation.items[0] is data[0]:
            findings.append(_finding(event.spot, event.spot))
    return findings


def _finding(spot: Spot, train: Spot) -> Finding:
    text = (
        f"{where(spot)}: {code(spot)} holds data that are validated on and that line {train.line} trains "
        "on: the score says nothing about new data."
    )
    return Finding(text, "silent_defect", "medium", places=(place(spot), place(train)))


_JOINED = (
    "held = TensorDataset(np.load('x.npy'))\nval_loader = DataLoader(held)\n"
    "train_loader = DataLoader(torch.utils.data.ConcatDataset([data, held]), shuffle=True)"
)
_PARTS = (
    "X, y = np.load('x.npy'), np.load('y.npy')\nX_train, y_train = X[:80], y[:80]\n"
    "X_val, y_val = X[{0}], y[{0}]"
)
_STEP = (
    "optimizer.zero_grad()\ncriterion(model(X_train[i:i + 8]), y_train[i:i + 8]).backward()\noptimizer.step()"
)
_SCORE = "with torch.no_grad(): score = criterion(model(X_val), y_val)"


def fires() -> Scripts:
    yield script(setup=_PARTS.format(":80"), body=_STEP, end=_SCORE)
    yield script(setup=_PARTS.format("60:"), body=_STEP, end=_SCORE)
    yield script(after=_JOINED, loader="train_loader", end=_VALIDATE)
    yield script(after=_LOADERS.format("data"), loader="train_loader", end=_VALIDATE)


def silent() -> Scripts:
    yield script(setup=_PARTS.format("80:"), body=_STEP, end=_SCORE)
    yield script(after=_LOADERS.format("held_out"), loader="train_loader", end=_VALIDATE)
    yield script(after="loader = DataLoader(data, shuffle=True)")
    yield script(after=_LOADERS.format("data, sampler=part"), loader="train_loader", end=_VALIDATE)
    yield script(
        after=_LOADERS.format("data") + "; test_loader = DataLoader(test)",
        loader="train_loader",
        end=_VALIDATE,
    )
