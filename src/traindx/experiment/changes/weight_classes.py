"""Weigh the classes in the loss by how rare they are.

The targets of the training are counted as they come, over the first 50 batches or 20,000 targets; each class
then weighs as much as if all were equally frequent, or with a `power` of 0.5 by the root of that. It acts in
`cross_entropy` and `nll_loss` on class numbers, and by the weight of the positive class in
`binary_cross_entropy` with and without logits. Validation stays unweighted.

Out of reach: losses written by hand, targets that are probabilities, losses that have weights already.
"""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Weigh the classes in the loss by how rare they are.",
    knobs=("class_weights",),
    above={"power": 0},
    alters_loss=True,
)
_UNEVEN = 1.1


def apply(hooks: Hooks, *, power: float = 1.0) -> None:
    from traindx.experiment.runtime.torch.balancing import Classes, Positives, kind_of

    known: dict[str, Any] = {}

    def judged(loss: Any) -> None:
        if not loss.training or not loss.input.requires_grad:
            return
        kind = kind_of(loss)
        if not kind:
            return
        if loss.given.get("weight") is not None or loss.given.get("pos_weight") is not None:
            hooks.otherwise(f"{loss.name} has weights of the script's own")
            return
        counts = known.setdefault(loss.name, Classes(power) if kind == "classes" else Positives(power))
        counts.add(loss)
        counts.weigh(loss)
        if counts.settled:
            tell(counts)

    def tell(counts: Any) -> None:
        if counts.heaviest >= _UNEVEN:
            hooks.changed(counts.text)
        else:
            hooks.otherwise(f"the classes are about equally frequent: {counts.text}")

    def end() -> None:
        for counts in known.values():
            if not counts.settled:
                tell(counts)

    hooks.otherwise("no classification loss of torch was called on labels")
    hooks.loss_call(judged)
    hooks.at_end(end)
