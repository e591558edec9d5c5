"""Go through the training data in a new random order in every epoch.

DataLoaders that pass over their data in order, other than those the script calls validation or test, draw
it at random while gradients are recorded. The order comes from a generator of its own.

Out of reach: scripts that slice batches themselves, samplers of the script's own, and iterable datasets.
"""

from __future__ import annotations

import weakref
from typing import Any

from traindx.experiment.runtime.joints import Intervention, Joints

INTERVENTION = Intervention(title="Go through the training data in random order.", knobs=("shuffle",))


def apply(joints: Joints) -> None:
    from traindx.experiment.runtime.torch.inputs import is_validation
    from traindx.experiment.runtime.torch.ordering import in_order, random_order

    ours: weakref.WeakSet[Any] = weakref.WeakSet()

    def made(given: dict[str, Any], line: str) -> Any:
        why = in_order(given)
        if why:
            if not is_validation(line):
                joints.otherwise(why)
            return None
        if is_validation(line):
            return None
        given.pop("shuffle", None)
        given["sampler"] = random_order(given["dataset"])
        return ours.add

    def fetched(batch: Any, source: Any, trains: bool) -> Any:
        if trains and source.loader in ours:
            count = len(source.loader.dataset)
            joints.changed(f"{count} samples are drawn in a new random order in every epoch")
        return batch

    joints.otherwise("no DataLoader was made")
    joints.loader_made(made)
    joints.batch(fetched)
