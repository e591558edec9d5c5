"""Run models in training mode where they train and in eval mode where they do not.

A place in the script whose calls lead to a loss that backward is called on is one of training. A call
without gradients, or at a place that no such loss is computed from, is one of evaluation. A model that is
in the other mode is switched for that call and stays so until it has to be the other way; parts that the
script keeps in eval mode while the model trains are put back as they were.

Out of reach: models that are called by `model.forward(x)`, and `F.dropout` with a fixed `training`.
"""

from __future__ import annotations

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Training mode where a model trains, eval mode where it does not.",
    knobs=("mode",),
)


def apply(hooks: Hooks) -> None:
    from traindx.experiment.runtime.torch.effective_modes import ForcedModes

    modes = ForcedModes(hooks)
    hooks.otherwise("the model was in the right mode at every call")
    hooks.model_call(modes.called)
    hooks.after_model_call(modes.gave)
    hooks.before_backward(modes.backward)
