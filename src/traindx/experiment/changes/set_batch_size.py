"""Set the batch size of the training's DataLoaders.

Loaders that the script calls validation or test keep theirs. The learning rate stays as it is.

Out of reach: scripts that slice batches themselves, and batch samplers of the script's own.
"""

from __future__ import annotations

import weakref
from typing import Any

from traindx.experiment.runtime.joints import Intervention, Joints

INTERVENTION = Intervention(
    title="Set the batch size of the training.",
    knobs=("batch_size",),
    least={"value": 1},
)


def apply(joints: Joints, *, value: int) -> None:
    from traindx.experiment.runtime.torch.inputs import is_validation

    before: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    def made(given: dict[str, Any], line: str) -> Any:
        if is_validation(line):
            return None
        size = given.get("batch_size", 1)
        if given.get("batch_sampler") is not None or size is None:
            joints.otherwise("the DataLoader's batches are made by a sampler of the script's own")
            return None
        most = len(given["dataset"]) if hasattr(given["dataset"], "__len__") else value
        new = max(1, min(value, most))
        if size == new:
            joints.otherwise(f"the batch size is {size} already")
            return None
        given["batch_size"] = new
        return lambda loader: before.update({loader: size})

    def fetched(batch: Any, source: Any, trains: bool) -> Any:
        if trains and source.loader in before:
            joints.changed(f"batch size {before[source.loader]} -> {source.loader.batch_size}")
        return batch

    joints.otherwise("no DataLoader was made")
    joints.loader_made(made)
    joints.batch(fetched)
