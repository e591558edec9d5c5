"""When the training ends."""

from __future__ import annotations

import math
from typing import Any

from traindx.experiment.runtime.hooks import Hooks, change
from traindx.experiment.runtime.rate_groups import drop_gradients

DIVERGED_TEXT = "the loss diverged"
_FIRST = 5


@change(above={"factor": 1}, least={"patience": 1})
def stop_at_divergence(hooks: Hooks, *, factor: float = 100.0, patience: int = 5) -> None:
    """End the training when its loss has diverged: not finite, or far above the start, and staying there.

    Nothing is changed before that. `factor` is how many times the loss of the first steps counts as far; it
    has to stay there for `patience` calls of backward. It saves the rest of a trial whose rate was raised
    too far.

    Out of reach: losses that `backward` is never called on.
    """
    from traindx.observe.recorder import stop

    first: list[float] = []
    far = 0

    def look(losses: tuple[Any, ...]) -> None:
        nonlocal far
        loss = sum(float(part.detach().float().mean()) for part in losses if part.numel() == 1)
        if len(first) < _FIRST:
            first.append(abs(loss))
            hooks.changed(f"watches the loss: ends the training beyond {factor:g} times its start")
        start = sorted(first)[len(first) // 2]
        # A loss that begins at zero has no scale to be far from.
        far = far + 1 if not math.isfinite(loss) or (start > 0 and abs(loss) > factor * start) else 0
        if far >= patience:
            stop(f"{DIVERGED_TEXT}: {loss:.3g} after {start:.3g} at the start")

    hooks.otherwise("backward was never called")
    hooks.before_backward(look)


@change(knobs=("epochs",), least={"patience": 1})
def stop_early(hooks: Hooks, *, patience: int = 5) -> None:
    """Stop learning at the best validation loss, after `patience` evaluations in a row without a better one.

    The weights and buffers of the best evaluation are put back and stay: the script runs to its end, so that
    it can be compared step by step, but its steps change nothing any more. The validation loss is the mean
    of torch's loss functions where the script calls them without gradients.

    Out of reach: scripts without validation, validation losses written by hand, and updates written by hand.
    """
    from traindx.experiment.runtime.torch.models import Models
    from traindx.experiment.runtime.torch.validation_losses import ValidationLosses

    models: list[Any] = []
    best_states: list[dict[str, Any]] = []
    best, best_evaluation, evaluations, stopped = math.inf, 0, 0, False

    def evaluated(loss: float) -> None:
        nonlocal best, best_evaluation, evaluations, best_states, stopped
        if stopped:
            return
        evaluations += 1
        if loss < best:
            best, best_evaluation = loss, evaluations
            best_states = [
                {key: tensor.clone() for key, tensor in model.state_dict().items()} for model in models
            ]
            hooks.otherwise(f"the validation loss still improved in the last {patience} evaluations")
        elif evaluations - best_evaluation >= patience:
            stopped = True
            restore()
            hooks.changed(
                f"learning stops after evaluation {evaluations}: the weights of evaluation {best_evaluation} "
                f"with a validation loss of {best:.4g} are kept"
            )

    def restore() -> None:
        with hooks.aside():
            for model, state in zip(models, best_states, strict=False):
                model.load_state_dict(state)

    def before_step(optimizer: Any) -> None:
        if stopped:
            drop_gradients(optimizer)

    def on_model_call(call: Any, root: Any) -> None:
        # Training goes on moving the running statistics of batch norm.
        if stopped and not call.training and root in models:
            restore()

    hooks.otherwise("no loss function of torch was called without gradients: there is no validation loss")
    Models(hooks, lambda root, _: models.append(root))
    ValidationLosses(hooks, evaluated)
    hooks.gradients(before_step)
    hooks.model_call(on_model_call)
