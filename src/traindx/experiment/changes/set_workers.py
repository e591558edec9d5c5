"""Set the number of processes that load the training's data.

Loaders that the script calls validation or test keep theirs. The order of the samples stays the same.

Out of reach: scripts without a DataLoader; iterable datasets, which every worker would give whole.
"""

from __future__ import annotations

import weakref
from typing import Any

from traindx.experiment.runtime.joints import Intervention, Joints

INTERVENTION = Intervention(
    title="Set the number of processes that load the data.",
    knobs=("workers",),
    least={"value": 0},
    most={"value": 64},
)


def apply(joints: Joints, *, value: int) -> None:
    from traindx.experiment.runtime.torch.inputs import is_validation

    before: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    def made(given: dict[str, Any], line: str) -> Any:
        workers = given.get("num_workers", 0)
        if is_validation(line):
            return None
        if workers == value:
            joints.otherwise(f"the DataLoader has {workers} workers already")
            return None
        if not hasattr(given["dataset"], "__getitem__"):
            joints.otherwise("the dataset is iterable: every worker would give all of it")
            return None
        given["num_workers"] = value
        if not value:
            for name in ("prefetch_factor", "persistent_workers", "multiprocessing_context", "timeout"):
                given.pop(name, None)
        return lambda loader: before.update({loader: workers})

    def fetched(batch: Any, source: Any, trains: bool) -> Any:
        if trains and source.loader in before:
            joints.changed(f"workers {before[source.loader]} -> {value}")
        return batch

    joints.otherwise("no DataLoader was made")
    joints.loader_made(made)
    joints.batch(fetched)
