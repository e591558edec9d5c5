"""Change nothing, and measure the first step: the loss against chance, samples of each other, modes, memory.

At the first backward pass the model is called a few times more with the same batch, in both modes, with zeros
and with half of it. Gradients, buffers, modes and the streams of random numbers are afterwards as they were.
What was measured stands in `run.json` under `measured`, with a reason for what could not be.

Out of reach: models called by `model.forward(x)`, and a state that a model keeps outside its buffers.
"""

from __future__ import annotations

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(title="Nothing changed: the first step is measured.")


def apply(hooks: Hooks) -> None:
    from traindx.experiment.runtime.torch.measuring.first_step import FirstStep

    first = FirstStep(hooks)
    hooks.otherwise("no backward pass was seen")
    hooks.batch(first.fetched)
    hooks.model_call(first.called)
    hooks.loss_call(first.judged)
    hooks.before_backward(first.backward)
