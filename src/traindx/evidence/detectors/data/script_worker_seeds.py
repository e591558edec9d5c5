"""Workers of the loader draw the same random numbers: the generator is seeded in the dataset.

Seen when a dataset of the script makes a random generator with a fixed seed in `__init__`
(`default_rng(0)`, `Random(0)`, a torch generator), draws from it in `__getitem__`, and its loader has
workers: each holds a copy and draws the same numbers, anew each epoch. Also seen when `__getitem__` seeds
a global generator with a constant.

Silent without workers, and when a `worker_init_fn` is given. Known mistake: draws that are meant to
repeat.
"""

import ast

from traindx.evidence.detectors._script import Detector, Finding, Places, Scripts, Skipped, Training, script
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place
from traindx.source.values import Const, Function, Instance, Made, Spot, number

DETECTOR = Detector(title="same random numbers in workers", family="script_seeds")
_GENERATORS = ("default_rng", "RandomState", "Random")
_TOP = (
    "from torch.utils.data import Dataset\nclass Noisy(Dataset):\n    def __init__(self):\n        {}\n"
    "    def __getitem__(self, i):\n        return self.rng.normal(size=3), 0"
)


def detect(training: Training) -> Places:
    loaders = [
        e.value for e in training.trace.events if e.value.kind == "call" and e.value.short == "DataLoader"
    ]
    several = [one for one in loaders if (number(one.argument(-1, "num_workers")) or 0) > 0]
    own = [one for one in several if isinstance(one.argument(0, "dataset"), Instance)]
    if not own:
        return Skipped("a loader with workers over a dataset of the script's own")
    found: dict[int, Finding] = {}
    for loader in own:
        data = loader.argument(0, "dataset")
        if isinstance(data, Instance) and "worker_init_fn" not in loader.keywords:
            spot = _seeded(data)
            if spot is not None:
                found.setdefault(id(spot.node), _finding(spot, loader))
    return [*found.values()]


def _seeded(data: Instance) -> Spot | None:
    """Where a dataset seeds a generator that it draws from for each sample."""
    method = data.cls.attributes.get("__getitem__")
    if not isinstance(method, Function):
        return None
    drawn = {node.attr for node in ast.walk(method.node) if isinstance(node, ast.Attribute)}
    for name, value in data.attributes.items():
        fixed = isinstance(value, Made) and value.short in _GENERATORS and value.args
        if name in drawn and fixed and isinstance(value, Made) and isinstance(value.args[0], Const):
            return value.spot
    for node in ast.walk(method.node):
        seeds = (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("seed", "manual_seed")
        )
        if seeds and isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            return Spot(method.scope.source, node)
    return None


def _finding(spot: Spot, loader: Made) -> Finding:
    at = f" of line {loader.spot.line}" if loader.spot is not None else ""
    text = f"{where(spot)}: {code(spot)} is fixed: every worker of the loader{at} draws the same numbers."
    return Finding(text, "silent_defect", "low", places=(place(spot),))


def fires() -> Scripts:
    yield script(
        top=_TOP.format("self.rng = np.random.default_rng(0)"),
        setup="loader = DataLoader(Noisy(), num_workers=2)",
    )


def silent() -> Scripts:
    yield script(top=_TOP.format("self.rng = np.random.default_rng(0)"), setup="loader = DataLoader(Noisy())")
    yield script(
        top=_TOP.format("self.rng = np.random.default_rng()"),
        setup="loader = DataLoader(Noisy(), num_workers=2)",
    )
    yield script()
