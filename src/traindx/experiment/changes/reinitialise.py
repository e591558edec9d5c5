"""Draw the weights anew, by a rule that suits the layers.

Before a model's first call, the weights of its linear, convolutional and recurrent layers are drawn again:
He's rule (normal, for rectifiers), Xavier's (uniform) or orthogonal; biases become 0, norms 1 and 0. The
draws come from a generator of their own. Embeddings, and weights shared with them, stay.

Out of reach: parameters that are no layers of torch (but those named like weights), frozen ones, and models
that are called by `model.forward(x)`.
"""

from __future__ import annotations

from typing import Any, Literal

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(title="Reinitialise the weights.", knobs=("init",))


def apply(hooks: Hooks, *, kind: Literal["he", "xavier", "orthogonal"]) -> None:
    from traindx.experiment.runtime.torch.initialising import initialise
    from traindx.experiment.runtime.torch.models import Models

    def first(root: Any, given: object) -> None:
        del given
        text = initialise(root, kind)
        if text:
            hooks.changed(f"{type(root).__name__}: {text}")

    hooks.otherwise("no model with linear, convolutional or recurrent layers was trained")
    Models(hooks, first)
