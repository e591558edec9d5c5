"""Set the batch size of the training's DataLoaders.

Loaders that the script calls validation or test keep theirs. The learning rate stays as it is.

Out of reach: scripts that slice batches themselves, and batch samplers of the script's own.
"""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Set the batch size of the training.",
    knobs=("batch_size",),
    least={"value": 1},
)


def apply(hooks: Hooks, *, value: int) -> None:
    from traindx.experiment.runtime.torch.feeding import change_loaders

    def alter(given: dict[str, Any]) -> int | None:
        size = given.get("batch_size", 1)
        if given.get("batch_sampler") is not None or size is None:
            hooks.otherwise("the DataLoader's batches are made by a sampler of the script's own")
            return None
        most = len(given["dataset"]) if hasattr(given["dataset"], "__len__") else value
        new = max(1, min(value, most))
        if size == new:
            hooks.otherwise(f"the batch size is {size} already")
            return None
        given["batch_size"] = new
        return int(size)

    change_loaders(hooks, alter, lambda loader, before: f"batch size {before} -> {loader.batch_size}")
