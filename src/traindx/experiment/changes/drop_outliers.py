"""Leave out samples whose inputs are not finite, or beyond a limit.

Of each batch a DataLoader gives, in training and validation, rows with a NaN, an infinity or a value beyond
`limit` in the inputs are taken out, with their targets. A batch of which nothing would be left stays whole.

Out of reach: batches that are not made by a DataLoader, and those that are no tensors with one row a sample.
"""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Leave out samples with inputs that are not finite, or beyond a limit.",
    knobs=("data",),
    above={"limit": 0},
)


def apply(hooks: Hooks, *, limit: float = 1e30) -> None:
    from traindx.experiment.runtime.torch.tensors import rows_within, tensors_in
    from traindx.observe.torch.places.models import mapped

    seen = dropped = 0

    def fetched(batch: Any, source: Any, trains: bool) -> Any:
        nonlocal seen, dropped
        del source, trains
        tensors = tensors_in(batch)
        keep = rows_within(tensors, limit)
        if keep is None:
            return batch
        left, rows = int(keep.sum()), len(keep)
        seen += rows
        if left == rows or not left:
            hooks.otherwise(f"the inputs of {seen:,} samples lie within {limit:g}")
            return batch
        if not dropped:
            hooks.changed(f"samples with inputs beyond {limit:g}, or not finite, are left out")
        dropped += rows - left
        return mapped(batch, "", lambda _, one: one[keep] if one.dim() and len(one) == rows else one)

    def end() -> None:
        if dropped:
            hooks.changed(f"{dropped:,} of {seen:,} samples were left out")

    hooks.otherwise("no DataLoader gave a batch of real numbers")
    hooks.at_end(end)
    hooks.batch(fetched)
