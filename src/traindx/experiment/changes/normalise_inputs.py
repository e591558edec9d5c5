"""Bring the model's numeric inputs to mean 0 and deviation 1, feature by feature.

The statistics are those of the first 8 training calls of each model, as far as they have come, and stay from
then on, in validation, too. A feature is the last dimension of a table or a sequence, the channel of an
image. A target that is the input itself (of an autoencoder) is normalised alike.

Out of reach: models that are called by `model.forward(x)`, and inputs that are tokens.
"""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(title="Bring the model's numeric inputs to mean 0 and deviation 1.", knobs=("inputs",))
# Losses that compare values; others want their targets as they are.
_DISTANCES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")


def apply(hooks: Hooks) -> None:
    from traindx.experiment.runtime.torch.labels import is_numeric
    from traindx.experiment.runtime.torch.normalising import FeatureMoments, channel_axis

    known: dict[tuple[int, str], FeatureMoments] = {}
    given_now: dict[int, tuple[Any, FeatureMoments]] = {}

    def called(given: Any, root: Any) -> None:
        if not given.fresh:
            return
        given_now.clear()

        def normalised(name: str, tensor: Any) -> Any:
            if not is_numeric(name, tensor) or tensor.dim() < 2:
                return tensor
            key = (id(root), name)
            moments = known.setdefault(key, FeatureMoments(channel_axis(root, tensor)))
            if given.training or not moments.count:
                moments.add(tensor)
            if not hooks.has_changed:
                hooks.changed(f"{name}: {moments.text()}")
            given_now[tensor.data_ptr()] = (tensor, moments)
            return moments.normalised(tensor)

        given.replace(normalised)

    def judged(loss: Any) -> None:
        if loss.name not in _DISTANCES:
            return
        known_input = given_now.get(loss.target.data_ptr())
        if known_input is not None and known_input[0].numel() == loss.target.numel():
            tensor, moments = known_input
            loss.target = moments.normalised(tensor).reshape(loss.target.shape)

    hooks.otherwise("no module with parameters was given numbers that are not computed by another")
    hooks.model_call(called)
    hooks.loss_call(judged)
