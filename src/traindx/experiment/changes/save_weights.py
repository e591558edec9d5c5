"""Keep the weights of the model when the training is over.

Changes nothing in the training: the state of every model that was trained is written beside the
recording, as `model.pt`, once the script has ended. Several models are kept by their number.

Out of reach: a process that is killed, and weights that no module holds.
"""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(title="Keep the weights of the model when the training is over.")
FILE = "model.pt"


def apply(hooks: Hooks) -> None:
    from traindx.experiment.runtime.torch.models import Models
    from traindx.observe.recorder import current

    models: list[Any] = []

    def ended() -> None:
        import torch

        recorder = current()
        if recorder is None or not models:
            return
        states = [one.state_dict() for one in models]
        kept = states[0] if len(states) == 1 else dict(enumerate(states))
        with hooks.aside():
            torch.save(kept, recorder.folder / FILE)
        size = sum(parameter.numel() for one in models for parameter in one.parameters())
        hooks.changed(f"{size:,} parameters of {len(models)} models kept as {FILE}")

    hooks.otherwise("no model was trained")
    Models(hooks, lambda root, _: models.append(root))
    hooks.at_end(ended)
