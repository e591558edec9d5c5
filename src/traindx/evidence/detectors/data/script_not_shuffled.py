"""The loader of the training data does not shuffle.

Seen when the training loop runs over a `DataLoader` without `shuffle=True`, without a sampler, over a
dataset that is not an iterable stream. In Keras: `shuffle=False` in `fit`.

It matters when the data are ordered, which the source does not tell: a sign. Silent when the data are
shuffled beforehand. Known mistake: time series fed in order on purpose.
"""

import ast

from traindx.evidence.detectors._script import (
    Detector,
    Edit,
    Finding,
    Places,
    Scripts,
    Skipped,
    Training,
    script,
)
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place, replaced
from traindx.source.values import Const, Instance, Made, Spot, Value, options

DETECTOR = Detector(title="training data not shuffled", family="script_shuffle")


def detect(training: Training) -> Places:
    keras = [e for e in training.trace.methods("fit") if _is_false(e.value.keywords.get("shuffle"))]
    loaders = {
        id(one): one
        for iteration in training.iterations
        for loop in iteration.step.event.loops
        for one in _loaders(loop.over)
    }
    if not loaders and not keras:
        return Skipped("a loader of training data")
    if _shuffled_before(training):
        return []
    plain = [one for one in loaders.values() if _unshuffled(one)]
    spots = [one.spot for one in plain if one.spot is not None] + [e.spot for e in keras]
    return [_finding(spot) for spot in spots]


def _loaders(value: Value | None) -> list[Made]:
    found = []
    for one in options(value):
        inner: Value = one
        for _ in range(4):
            if isinstance(inner, Made) and inner.kind == "call" and inner.short == "DataLoader":
                found.append(inner)
            if not isinstance(inner, Made) or not inner.args:
                break
            inner = inner.args[0]
    return found


def _is_false(value: Value | None) -> bool:
    return isinstance(value, Const) and value.value is False


def _unshuffled(loader: Made) -> bool:
    """Whether a loader goes through its dataset in order."""
    given = loader.argument(2, "shuffle")
    if loader.open or {"sampler", "batch_sampler"} & loader.keywords.keys() or len(loader.args) > 3:
        return False
    data = loader.argument(0, "dataset")
    stream = isinstance(data, Instance) and any("Iterable" in name for name in data.cls.library_bases)
    known = isinstance(data, Instance) or (
        isinstance(data, Made) and data.short in ("TensorDataset", "ImageFolder")
    )
    return known and not stream and (given is None or _is_false(given))


def _shuffled_before(training: Training) -> bool:
    """Whether anything shuffles the data by itself, or draws it at random."""
    names = (
        "randperm",
        "permutation",
        "shuffle",
        "random_split",
        "train_test_split",
        "randn",
        "rand",
        "randint",
    )
    return any(e.value.short in names for e in training.trace.events if not e.grad_off)


def _finding(spot: Spot) -> Finding:
    text = (
        f"{where(spot)}: {code(spot)} feeds the training data in the order of the dataset (line {spot.line})."
    )
    edits: tuple[Edit, ...] = ()
    node = spot.node
    if isinstance(node, ast.Call) and len(node.args) < 3 and node.lineno == node.end_lineno:
        written = ast.unparse(node)
        if not any(keyword.arg == "shuffle" for keyword in node.keywords):
            edits = replaced(spot, f"{written[:-1]}, shuffle=True)", "ask")
    return Finding(text, places=(place(spot),), edits=edits)


def fires() -> Scripts:
    yield script(setup="loader = DataLoader(TensorDataset(X, y), batch_size=8)")


def silent() -> Scripts:
    yield script(setup="loader = DataLoader(TensorDataset(X, y), batch_size=8, shuffle=True)")
    yield script(setup="loader = DataLoader(TensorDataset(X, y), sampler=weights)")
    yield script(setup="X = torch.randn(9, 8)\nloader = DataLoader(TensorDataset(X, y), batch_size=8)")
    yield script()
