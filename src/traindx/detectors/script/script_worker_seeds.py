"""Every worker of a loader draws the same random numbers.

Seen when a dataset makes its own generator (`default_rng`, `RandomState`, `random.Random`) and draws from it
for each sample while its loader has workers: each worker gets a copy in the same state.

Silent without workers and with a `worker_init_fn`. PyTorch seeds the global generators of torch, numpy and
random apart by itself. Known mistake: noise that is meant to be the same for each sample.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.case import Case
from traindx.core import Finding, Skipped
from traindx.detectors.script._loaders import loaders, workers
from traindx.detectors.script._samples import script
from traindx.detectors.script._words import Looked, code, first, training_of, where
from traindx.script import Script
from traindx.script.attributes import lookup
from traindx.script.mending import place
from traindx.script.values import Function, Instance, Made, Spot
from traindx.units import Detector

DETECTOR = Detector(title="workers draw alike", needs=("script",), family="script_workers")
_GENERATORS = frozenset(
    """
    numpy.random.default_rng numpy.random.RandomState numpy.random.Generator random.Random torch.Generator
    """.split()
)


def detect(case: Case) -> Finding | Skipped | None:
    return first(case, __name__, look(case))


def look(case: Case) -> Looked:
    """Every place where it is seen."""
    training = training_of(case)
    if training is None:
        return Skipped("a script that can be followed")
    crowded = [e for e in loaders(training) if (workers(e.value) or 0) > 0]
    if not crowded:
        return Skipped("a loader with workers")
    found: dict[int, Finding] = {}
    for event in crowded:
        data = event.value.argument(0, "dataset")
        if "worker_init_fn" in event.value.keywords or not isinstance(data, Instance):
            continue
        for name, spot in _own_generators(data):
            text = (
                f"{where(spot)}: each of the workers of {code(event.spot)} (line {event.spot.line}) gets a "
                f"copy of `self.{name}` in the same state: they all draw the same numbers."
            )
            places = (place(spot), place(event.spot))
            found.setdefault(id(spot.node), Finding(text, "silent_defect", "medium", places=places))
    return [*found.values()]


def _own_generators(data: Instance) -> Iterator[tuple[str, Spot]]:
    """Generators of a dataset that its samples are drawn with."""
    getter = lookup(data.cls, "__getitem__")
    if getter is None or not isinstance(getter[0], Function):
        return
    used = {
        node.attr
        for node in ast.walk(getter[0].node)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    }
    stored = {
        node.attr
        for node in ast.walk(getter[0].node)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    for name, value in data.attributes.items():
        generator = isinstance(value, Made) and value.kind == "call" and value.name in _GENERATORS
        if generator and name in used - stored and value.spot is not None:
            yield name, value.spot


_DATA = """
class Noisy(torch.utils.data.Dataset):
    def __init__(self, x):
        self.x = x
        self.rng = {rng}
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return self.x[i] + {noise}, 0
loader = DataLoader(Noisy(torch.randn(80, 8)), 8, {options})
"""


def _script(
    rng: str = "np.random.default_rng(0)", noise: str = "self.rng.normal()", options: str = "num_workers=2"
) -> Script:
    return script(top=_DATA.format(rng=rng, noise=noise, options=options))


def fires() -> Iterator[Script]:
    yield _script()
    yield _script("np.random.RandomState(1)", "self.rng.randn(8)", "shuffle=True, num_workers=4")


def silent() -> Iterator[Script]:
    yield _script(options="num_workers=0")
    yield _script(options="num_workers=2, worker_init_fn=seed")
    yield _script(noise="np.random.normal()")
    yield _script(rng="None")
