"""Each worker reads the whole stream: every sample comes as often as there are workers.

Seen when a loader with two workers or more runs over an `IterableDataset` of the script that never asks
which worker it is in (`get_worker_info`) and gets no `worker_init_fn`.

Silent when the stream draws its samples at random, which do not repeat. Known mistake: a file opened in such
a way that each worker reads another part of it.
"""

import ast

from traindx.evidence.detectors._script import (
    Detector,
    Finding,
    Places,
    Script,
    Scripts,
    Skipped,
    Training,
    script,
)
from traindx.evidence.detectors._script.loaders import loaders, workers
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place
from traindx.source.values import Instance

DETECTOR = Detector(title="stream repeated by workers", family="script_workers")
_APART = ("worker", "rand", "choice", "shuffle", "sample", "rank", "shard", "generator", "queue", "socket")


def detect(training: Training) -> Places:
    streams = [e for e in loaders(training) if isinstance(e.value.argument(0, "dataset"), Instance)]
    if not streams:
        return Skipped("a loader over a dataset of the script's own")
    found: dict[int, Finding] = {}
    for event in streams:
        data, count = event.value.argument(0, "dataset"), workers(event.value) or 0.0
        if count < 2 or "worker_init_fn" in event.value.keywords or not isinstance(data, Instance):
            continue
        if any(name.endswith("IterableDataset") for name in data.cls.library_bases) and not _apart(data):
            text = (
                f"{where(event.spot)}: {code(event.spot)} has {count:g} workers, and nothing in "
                f"`{data.cls.node.name}` shares the stream among them: each sample comes {count:g} times."
            )
            spots = [event.spot, *([data.cls.spot] if data.cls.spot is not None else [])]
            places = tuple(place(one) for one in spots)
            found.setdefault(id(event.spot.node), Finding(text, "silent_defect", "medium", places=places))
    return [*found.values()]


def _apart(data: Instance) -> bool:
    """Whether anything in the class may give each worker other samples."""
    if not data.cls.understood:
        return True
    names: set[str] = set()
    for cls in data.cls.line_of_descent:
        names |= {node.attr for node in ast.walk(cls.node) if isinstance(node, ast.Attribute)}
        names |= {node.id for node in ast.walk(cls.node) if isinstance(node, ast.Name)}
    return any(part in name.lower() for name in names for part in _APART)


_DATA = """
class Stream(torch.utils.data.IterableDataset):
    def __init__(self, rows):
        super().__init__()
        self.rows = rows
    def __iter__(self):
        {share}
        for row in self.rows:
            yield row, 0
loader = DataLoader(Stream(torch.ones(80, 8)), 8, num_workers={workers})
"""


def _script(workers: int = 2, share: str = "pass") -> Script:
    return script(top=_DATA.format(workers=workers, share=share))


def fires() -> Scripts:
    yield _script()
    yield _script(workers=4)


def silent() -> Scripts:
    yield _script(workers=0)
    yield _script(workers=1)
    yield _script(share="info = torch.utils.data.get_worker_info()")
    yield _script(share="np.random.shuffle(self.rows)")
    yield script()
