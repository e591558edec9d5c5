"""What the loss is given and how it weighs it."""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import Hooks, change

_UNEVEN = 1.1


@change(knobs=("output",), alters_loss=True)
def pass_logits(hooks: Hooks) -> None:
    """Give the loss what it expects: logits, not what a softmax or sigmoid made of them.

    What `softmax`, `log_softmax` or `sigmoid` was given is used in its place where its result reaches
    `cross_entropy` or `binary_cross_entropy_with_logits`, also through reshaping. `nll_loss` that is given
    probabilities or plain outputs gets their log-softmax. Outputs of the model stay as they are for all
    else.

    Out of reach: losses written by hand, and results that are computed with before they reach the loss.
    """
    from traindx.experiment.runtime.torch.logits import Logits

    logits = Logits(hooks)
    hooks.otherwise("no softmax or sigmoid came between a model and a loss that expects logits")
    for name in ("softmax", "log_softmax", "sigmoid"):
        for owner in ("F", "torch", "Tensor"):
            hooks.function(f"{owner}.{name}", logits.remember(name))
    hooks.loss_call(logits.on_loss_call)


@change(knobs=("class_weights",), above={"power": 0}, alters_loss=True)
def weight_classes(hooks: Hooks, *, power: float = 1.0) -> None:
    """Weigh the classes in the loss by how rare they are.

    The targets of the training are counted as they come, over the first 50 batches or 20,000 targets; each
    class then weighs as much as if all were equally frequent, or with a `power` of 0.5 by the root of that.
    It acts in `cross_entropy` and `nll_loss` on class numbers, and by the weight of the positive class in
    `binary_cross_entropy` with and without logits. Validation stays unweighted.

    Out of reach: losses written by hand, targets that are probabilities, losses that have weights already.
    """
    from traindx.experiment.runtime.torch.balancing import Classes, Positives, kind_of

    counts_by_loss: dict[str, Any] = {}

    def on_loss_call(loss: Any) -> None:
        if not loss.training or not loss.input.requires_grad:
            return
        kind = kind_of(loss)
        if not kind:
            return
        if loss.given.get("weight") is not None or loss.given.get("pos_weight") is not None:
            hooks.otherwise(f"{loss.name} has weights of the script's own")
            return
        counts = counts_by_loss.setdefault(
            loss.name, Classes(power) if kind == "classes" else Positives(power)
        )
        counts.add(loss)
        counts.weigh(loss)
        if counts.settled:
            report(counts)

    def report(counts: Any) -> None:
        if counts.heaviest >= _UNEVEN:
            hooks.changed(counts.text)
        else:
            hooks.otherwise(f"the classes are about equally frequent: {counts.text}")

    def end() -> None:
        for counts in counts_by_loss.values():
            if not counts.settled:
                report(counts)

    hooks.otherwise("no classification loss of torch was called on labels")
    hooks.loss_call(on_loss_call)
    hooks.at_end(end)
