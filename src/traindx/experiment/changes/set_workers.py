"""Set the number of processes that load the training's data.

Loaders that the script calls validation or test keep theirs. The order of the samples stays the same.

Out of reach: scripts without a DataLoader; iterable datasets, which every worker would give whole.
"""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Set the number of processes that load the data.",
    knobs=("workers",),
    least={"value": 0},
    most={"value": 64},
)


def apply(hooks: Hooks, *, value: int) -> None:
    from traindx.experiment.runtime.torch.feeding import change_loaders

    def alter(given: dict[str, Any]) -> int | None:
        workers = int(given.get("num_workers", 0))
        if workers == value:
            hooks.otherwise(f"the DataLoader has {workers} workers already")
            return None
        if not hasattr(given["dataset"], "__getitem__"):
            hooks.otherwise("the dataset is iterable: every worker would give all of it")
            return None
        given["num_workers"] = value
        if not value:
            for name in ("prefetch_factor", "persistent_workers", "multiprocessing_context", "timeout"):
                given.pop(name, None)
        return workers

    change_loaders(hooks, alter, lambda _, before: f"workers {before} -> {value}")
