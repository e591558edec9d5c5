"""Give the loss what it expects: logits, not what a softmax or sigmoid made of them.

What `softmax`, `log_softmax` or `sigmoid` was given is used in its place where its result reaches
`cross_entropy` or `binary_cross_entropy_with_logits`, also through reshaping. `nll_loss` that is given
probabilities or plain outputs gets their log-softmax. Outputs of the model stay as they are for all else.

Out of reach: losses written by hand, and results that are computed with before they reach the loss.
"""

from __future__ import annotations

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Give the loss logits, not what a softmax or sigmoid made of them.",
    knobs=("output",),
    alters_loss=True,
)


def apply(hooks: Hooks) -> None:
    from traindx.experiment.runtime.torch.logits import Logits

    logits = Logits(hooks)
    hooks.otherwise("no softmax or sigmoid came between a model and a loss that expects logits")
    for name in ("softmax", "log_softmax", "sigmoid"):
        for owner in ("F", "torch", "Tensor"):
            hooks.function(f"{owner}.{name}", logits.remember(name))
    hooks.loss_call(logits.judged)
