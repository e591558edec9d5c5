"""Give the training other samples' labels: what is left to learn does without them.

The targets of torch's loss functions are replaced, while gradients are recorded, by targets drawn from
this batch and those before. A loss written by hand is reached through the DataLoader: the parts of its
batches that do not go into the model are exchanged from the second batch on. Validation keeps its labels.

Out of reach: a loss written by hand on batches that no DataLoader gives.
"""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(title="Other samples' labels for the training.", knobs=("labels",))


def apply(hooks: Hooks) -> None:
    import torch

    from traindx.experiment.runtime.torch.labels import LabelParts, is_label, shuffled_target
    from traindx.experiment.runtime.torch.tensors import Pool

    pool, named, parts, seen = Pool(), Pool(), LabelParts(), False

    def judged(loss: Any) -> None:
        nonlocal seen
        if loss.training and loss.input.requires_grad and not loss.target.requires_grad:
            seen = True
            before, loss.target = loss.target, shuffled_target(loss, pool)
            share = float((before != loss.target).float().mean())
            if share and not hooks.has_changed:
                hooks.changed(
                    f"targets of {loss.name} are other samples' ({share:.0%} of the first batch differ)"
                )

    def fetched(batch: Any, source: object, trains: bool) -> Any:
        del source
        if not torch.is_grad_enabled() or seen:
            return batch
        return parts.exchanged(batch, trains, hooks.changed)

    def called(given: Any, root: object) -> None:
        nonlocal seen
        parts.called(given, root)
        if given.training and any(is_label(name) for name, _ in given.tensors()):
            seen = True
            given.replace(lambda name, one: named.drawn(one) if is_label(name) and one.dim() else one)
            hooks.changed("labels given to the model are other samples'")

    def backward() -> None:
        if not seen:
            why = parts.learn()
            if why:
                hooks.cannot(why)

    hooks.otherwise("no loss function of torch was given targets, and no DataLoader gave labels")
    hooks.loss_call(judged)
    hooks.batch(fetched)
    hooks.model_call(called)
    hooks.after_backward(backward)
