"""The batches that DataLoaders give."""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import Hooks, change


@change(knobs=("batch_size",), least={"value": 1})
def set_batch_size(hooks: Hooks, *, value: int) -> None:
    """Set the batch size of the training's DataLoaders.

    Loaders that the script calls validation or test keep theirs. The learning rate stays as it is.

    Out of reach: scripts that slice batches themselves, and batch samplers of the script's own.
    """
    from traindx.experiment.runtime.torch.feeding import change_loaders

    def alter(arguments: dict[str, Any]) -> int | None:
        size = arguments.get("batch_size", 1)
        if arguments.get("batch_sampler") is not None or size is None:
            hooks.otherwise("the DataLoader's batches are made by a sampler of the script's own")
            return None
        largest = len(arguments["dataset"]) if hasattr(arguments["dataset"], "__len__") else value
        new = max(1, min(value, largest))
        if size == new:
            hooks.otherwise(f"the batch size is {size} already")
            return None
        arguments["batch_size"] = new
        return int(size)

    change_loaders(hooks, alter, lambda loader, old_size: f"batch size {old_size} -> {loader.batch_size}")


@change(knobs=("workers",), least={"value": 0}, most={"value": 64})
def set_workers(hooks: Hooks, *, value: int) -> None:
    """Set the number of processes that load the training's data.

    Loaders that the script calls validation or test keep theirs. The order of the samples stays the same.

    Out of reach: scripts without a DataLoader; iterable datasets, which every worker would give whole.
    """
    from traindx.experiment.runtime.torch.feeding import change_loaders

    def alter(arguments: dict[str, Any]) -> int | None:
        workers = int(arguments.get("num_workers", 0))
        if workers == value:
            hooks.otherwise(f"the DataLoader has {workers} workers already")
            return None
        if not hasattr(arguments["dataset"], "__getitem__"):
            hooks.otherwise("the dataset is iterable: every worker would give all of it")
            return None
        arguments["num_workers"] = value
        if not value:
            for name in ("prefetch_factor", "persistent_workers", "multiprocessing_context", "timeout"):
                arguments.pop(name, None)
        return workers

    change_loaders(hooks, alter, lambda _, old_count: f"workers {old_count} -> {value}")


@change(knobs=("shuffle",))
def shuffle_data(hooks: Hooks) -> None:
    """Go through the training data in a new random order in every epoch.

    DataLoaders that pass over their data in order, other than those the script calls validation or test,
    draw it at random while gradients are recorded. The order comes from a generator of its own.

    Out of reach: scripts that slice batches themselves, samplers of the script's own, and iterable datasets.
    """
    from traindx.experiment.runtime.torch.feeding import RandomOrder, change_loaders, in_order

    def alter(arguments: dict[str, Any]) -> bool | None:
        reason = in_order(arguments)
        if reason:
            hooks.otherwise(reason)
            return None
        arguments.pop("shuffle", None)
        arguments["sampler"] = RandomOrder(arguments["dataset"])
        return False

    def describe(loader: Any, _: bool) -> str:
        return f"{len(loader.dataset)} samples are drawn in a new random order in every epoch"

    change_loaders(hooks, alter, describe)


@change(knobs=("data",), above={"limit": 0})
def drop_outliers(hooks: Hooks, *, limit: float = 1e30) -> None:
    """Leave out samples whose inputs are not finite, or beyond a limit.

    Of each batch a DataLoader gives, in training and validation, rows with a NaN, an infinity or a value
    beyond `limit` in the inputs are taken out, with their targets. A batch of which nothing would be left
    stays whole.

    Out of reach: batches that are not made by a DataLoader, and those that are no tensors with one row a
    sample.
    """
    from traindx.experiment.runtime.torch.tensors import rows_within, tensors_in
    from traindx.observe.torch.places.models import mapped

    checked = dropped = 0

    def on_batch(batch: Any, source: Any, trains: bool) -> Any:
        nonlocal checked, dropped
        del source, trains
        tensors = tensors_in(batch)
        keep = rows_within(tensors, limit)
        if keep is None:
            return batch
        finite, rows = int(keep.sum()), len(keep)
        checked += rows
        if finite == rows or not finite:
            hooks.otherwise(f"the inputs of {checked:,} samples lie within {limit:g}")
            return batch
        if not dropped:
            hooks.changed(f"samples with inputs beyond {limit:g}, or not finite, are left out")
        dropped += rows - finite
        return mapped(
            batch, "", lambda _, tensor: tensor[keep] if tensor.dim() and len(tensor) == rows else tensor
        )

    def end() -> None:
        if dropped:
            hooks.changed(f"{dropped:,} of {checked:,} samples were left out")

    hooks.otherwise("no DataLoader gave a batch of real numbers")
    hooks.at_end(end)
    hooks.batch(on_batch)
