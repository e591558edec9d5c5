"""Train on one batch for ever: a model that learns must bring its loss down to the floor.

Where a DataLoader feeds the training, its first batch is given at every step; epochs keep their length and
validation keeps its data. Otherwise the model's inputs and the targets of torch's loss functions are those
of the first step. Where the loss is written by hand and no DataLoader is used, the states of the random
generators are put back after each step so that the script draws the same batch again; whether it does is
checked.

Out of reach: batches that a script takes in order, without a DataLoader, for a loss written by hand.
"""

from __future__ import annotations

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(title="Train on the first batch at every step.", knobs=("data",))


def apply(hooks: Hooks) -> None:
    from traindx.experiment.runtime.torch.repeating import Repeating

    repeating = Repeating(hooks)
    hooks.otherwise("no backward pass was seen after the first step")
    hooks.batch(repeating.fetched)
    hooks.model_call(repeating.called)
    hooks.loss_call(repeating.judged)
    hooks.after_backward(repeating.backward)
    hooks.after_step(repeating.stepped)
