"""Nothing changed: measurements of the first step, the weights at the end."""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import Hooks, change

WEIGHTS_FILE = "model.pt"


@change()
def measure_first_step(hooks: Hooks) -> None:
    """Change nothing, and measure the first step: loss and chance, sample independence, modes, memory.

    At the first backward pass the model is called a few times more with the same batch, in both modes, with
    zeros and with half of it. Gradients, buffers, modes and the streams of random numbers are afterwards as
    they were. What was measured stands in `run.json` under `measured`, with a reason for what could not be.

    Out of reach: models called by `model.forward(x)`, and a state that a model keeps outside its buffers.
    """
    from traindx.experiment.runtime.torch.measuring.first_step import FirstStep

    first = FirstStep(hooks)
    hooks.otherwise("no backward pass was seen")
    hooks.batch(first.on_batch)
    hooks.model_call(first.on_model_call)
    hooks.loss_call(first.on_loss_call)
    hooks.before_backward(first.backward)


@change()
def save_weights(hooks: Hooks) -> None:
    """Keep the weights of the model when the training is over.

    Changes nothing in the training: the state of every model that was trained is written beside the
    recording, as `model.pt`, once the script has ended. Several models are kept by their number. A Keras
    model is saved whole, as `model.keras` and, where the format can hold it, as `model.h5`.

    Out of reach: a process that is killed, and weights that no module holds.
    """
    from traindx.experiment.runtime.torch.models import Models
    from traindx.observe.recorder import current

    models: list[Any] = []

    def ended() -> None:
        import torch

        recorder = current()
        if recorder is None or not models:
            return
        states = [model.state_dict() for model in models]
        contents = states[0] if len(states) == 1 else dict(enumerate(states))
        with hooks.aside():
            torch.save(contents, recorder.folder / WEIGHTS_FILE)
        size = sum(parameter.numel() for model in models for parameter in model.parameters())
        hooks.changed(f"{size:,} parameters of {len(models)} models kept as {WEIGHTS_FILE}")

    hooks.otherwise("no model was trained")
    Models(hooks, lambda root, _: models.append(root))
    hooks.at_end(ended)
