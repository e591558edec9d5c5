"""Go through the training data in a new random order in every epoch.

DataLoaders that pass over their data in order, other than those the script calls validation or test, draw
it at random while gradients are recorded. The order comes from a generator of its own.

Out of reach: scripts that slice batches themselves, samplers of the script's own, and iterable datasets.
"""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(title="Go through the training data in random order.", knobs=("shuffle",))


def apply(hooks: Hooks) -> None:
    from traindx.experiment.runtime.torch.feeding import change_loaders, in_order, random_order

    def alter(given: dict[str, Any]) -> bool | None:
        why = in_order(given)
        if why:
            hooks.otherwise(why)
            return None
        given.pop("shuffle", None)
        given["sampler"] = random_order(given["dataset"])
        return False

    def said(loader: Any, _: bool) -> str:
        return f"{len(loader.dataset)} samples are drawn in a new random order in every epoch"

    change_loaders(hooks, alter, said)
