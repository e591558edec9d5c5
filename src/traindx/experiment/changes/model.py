"""The layers of the model, their weights and their modes."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from traindx.experiment.runtime.hooks import Hooks, change

if TYPE_CHECKING:
    from traindx.experiment.runtime.torch.activating import Activations


@change(knobs=("norm",))
def insert_norm(hooks: Hooks, *, kind: Literal["auto", "batch", "layer"] = "auto") -> None:
    """Put a normalisation between each hidden layer and its activation.

    After linear and convolutional layers whose result goes straight into an activation, and whose input does
    not come from a norm: batch norm for images and tables if the batch is large enough, layer norm for
    sequences (`auto`); or the named kind. The new parameters join the group of their layer's weights.

    Out of reach: activations written by hand, layers held in plain lists, copies of the model that were made
    before its first call, and models that are called by `model.forward(x)`.
    """
    from traindx.experiment.runtime.torch.inserting import insert
    from traindx.experiment.runtime.torch.models import Models
    from traindx.experiment.runtime.torch.tracing import trace

    def first(root: Any, call: Any) -> None:
        with hooks.aside():
            traced = trace(root, call)
        placed = insert(traced, kind, models.group_of) if traced is not None else ""
        if placed:
            hooks.changed(f"{type(root).__name__}: {placed}")

    hooks.otherwise("no layer of a model goes straight into an activation without a norm")
    models = Models(hooks, first)


@change(knobs=("activation",))
def swap_activation(
    hooks: Hooks, *, to: Literal["relu", "leaky_relu", "gelu", "silu", "elu", "tanh"] = "leaky_relu"
) -> None:
    """Put another activation in the place of the hidden ones.

    Modules and functions (`F.relu`, `torch.tanh`, `x.sigmoid()`) alike. What makes the model's output stays,
    and so do gates: activations whose result is multiplied with another. Which are which is seen in a pass
    of the model aside, before its first call.

    Out of reach: activations inside `nn.LSTM`, `nn.GRU` and `nn.RNN`, those written by hand, and models that
    are called by `model.forward(x)`.
    """
    from traindx.experiment.runtime.torch.activating import swapped_for

    hooks.otherwise(f"no hidden activation other than {to} was found")
    _change_activations(hooks, swapped_for(to), lambda count, kind: f"{count} x {kind} -> {to}", but=to)


@change(knobs=("dropout",), above={"value": 0}, most={"value": 0.9})
def insert_dropout(hooks: Hooks, *, value: float = 0.2) -> None:
    """Put dropout after the hidden activations of a model that has none.

    In training, a share of `value` of what each hidden activation gives is set to 0 and the rest is scaled
    up, as `nn.Dropout` does; without gradients and in eval mode nothing is dropped. The random numbers are
    its own.

    Out of reach: models that have dropout already (see `set_dropout`), activations written by hand, and
    models that are called by `model.forward(x)`.
    """
    from torch import nn

    from traindx.experiment.runtime.torch.activating import followed_by_dropout

    def drops(root: Any) -> str:
        shares = [module.p for module in root.modules() if isinstance(module, nn.modules.dropout._DropoutNd)]
        return f"the model has dropout already: {max(shares):g}" if any(shares) else ""

    hooks.otherwise("no hidden activation was found")
    _change_activations(
        hooks,
        followed_by_dropout(value),
        lambda count, kind: f"dropout {value:g} after {count} x {kind}",
        refuse=drops,
    )


def _change_activations(
    hooks: Hooks,
    activations: Activations,
    describe: Callable[[int, str], str],
    *,
    but: str = "",
    refuse: Callable[[Any], str] = lambda _: "",
) -> None:
    """Change the hidden activations of each model at its first call; `refuse(root)` says why not."""
    from traindx.experiment.runtime.torch.activating import FUNCTIONS
    from traindx.experiment.runtime.torch.models import Models
    from traindx.experiment.runtime.torch.tracing import trace

    def first(root: Any, call: Any) -> None:
        why_not = refuse(root)
        if why_not:
            hooks.otherwise(why_not)
            return
        with hooks.aside(but_functions=True), activations.watching():
            traced = trace(root, call)
        counts = activations.settle(root, traced, but) if traced is not None else {}
        if counts:
            texts = [describe(count, kind) for kind, count in sorted(counts.items())]
            hooks.changed(f"{type(root).__name__}: {', '.join(texts)}")

    Models(hooks, first)
    for path, kind in FUNCTIONS.items():
        hooks.function(path, activations.instead(kind))


@change(knobs=("init",))
def reinitialise(hooks: Hooks, *, kind: Literal["he", "xavier", "orthogonal"]) -> None:
    """Draw the weights anew, by a rule that suits the layers.

    Before a model's first call, the weights of its linear, convolutional and recurrent layers are drawn
    again: He's rule (normal, for rectifiers), Xavier's (uniform) or orthogonal; biases become 0, norms 1 and
    0. The draws come from a generator of their own. Embeddings, and weights shared with them, stay.

    Out of reach: parameters that are no layers of torch (but those named like weights), frozen ones, and
    models that are called by `model.forward(x)`.
    """
    from traindx.experiment.runtime.torch.initialising import initialise
    from traindx.experiment.runtime.torch.models import Models

    def first(root: Any, call: object) -> None:
        del call
        text = initialise(root, kind)
        if text:
            hooks.changed(f"{type(root).__name__}: {text}")

    hooks.otherwise("no model with linear, convolutional or recurrent layers was trained")
    Models(hooks, first)


@change(knobs=("init",))
def set_bias(hooks: Hooks, *, value: float = 0.01) -> None:
    """Start the biases at a small positive value, so that rectified units begin alive.

    Before a model's first call, the biases of its linear and convolutional layers are set to `value`.

    Out of reach: layers without a bias, frozen ones, and models that are called by `model.forward(x)`.
    """
    import torch
    from torch import nn

    from traindx.experiment.runtime.torch.models import Models
    from traindx.experiment.runtime.torch.tensors import range_of

    def first(root: Any, call: object) -> None:
        del call
        layers = [
            module for module in root.modules() if isinstance(module, nn.Linear | nn.modules.conv._ConvNd)
        ]
        biases = [layer.bias for layer in layers if layer.bias is not None and layer.bias.requires_grad]
        if biases:
            old_range = range_of(torch.cat([bias.detach().flatten().cpu() for bias in biases]))
            hooks.changed(f"{type(root).__name__}: {len(biases)} biases of {old_range} -> {value:g}")
        with torch.no_grad():
            for bias in biases:
                bias.fill_(value)

    hooks.otherwise("no model with linear or convolutional layers that have a bias was trained")
    Models(hooks, first)


@change(knobs=("dropout",), least={"value": 0}, most={"value": 0.99})
def set_dropout(hooks: Hooks, *, value: float) -> None:
    """Set the share that dropout leaves out.

    All dropout modules and functions of the training get `value`, also that inside attention and between the
    layers of an RNN, where the script has one at all.

    Out of reach: models without dropout, and dropout that is written by hand.
    """
    from torch import nn

    visited: weakref.WeakSet[Any] = weakref.WeakSet()

    def on_model_call(call: object, root: Any) -> None:
        del call
        if root in visited:
            return
        visited.add(root)
        for name, module in root.named_modules():
            if isinstance(module, nn.modules.dropout._DropoutNd):
                _set(module, "p", name)
            elif isinstance(module, nn.MultiheadAttention | nn.RNNBase) and module.dropout:
                _set(module, "dropout", name)

    def _set(module: Any, attribute: str, name: str) -> None:
        old_value = getattr(module, attribute)
        if old_value == value:
            hooks.otherwise(f"dropout is {value:g} already")
            return
        setattr(module, attribute, value)
        hooks.changed(f"dropout {old_value:g} -> {value:g} in {name or type(module).__name__}")

    def dropped(original: Any, input: Any, p: float = 0.5, *args: Any, **kwargs: Any) -> Any:
        training = args[0] if args else kwargs.get("training", True)
        if p != value and training:
            hooks.changed(f"dropout {p:g} -> {value:g} in a call of F.dropout")
        return original(input, value if training else p, *args, **kwargs)

    def attended(original: Any, *args: Any, **kwargs: Any) -> Any:
        arguments = dict(
            zip(("query", "key", "value", "attn_mask", "dropout_p", "is_causal"), args, strict=False)
        )
        arguments |= kwargs
        if arguments.get("dropout_p") and arguments["dropout_p"] != value:
            hooks.changed(f"dropout {arguments['dropout_p']:g} -> {value:g} in attention")
            arguments["dropout_p"] = value
        return original(**arguments)

    hooks.otherwise("no dropout was found")
    hooks.model_call(on_model_call)
    for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"):
        hooks.function(f"F.{name}", dropped)
    hooks.function("F.scaled_dot_product_attention", attended)


@change(knobs=("mode",))
def force_modes(hooks: Hooks) -> None:
    """Run models in training mode where they train and in eval mode where they do not.

    A place in the script whose calls lead to a loss that backward is called on is one of training. A call
    without gradients, or at a place that no such loss is computed from, is one of evaluation. A model that
    is in the other mode is switched for that call and stays so until it has to be the other way; parts that
    the script keeps in eval mode while the model trains are put back as they were.

    Out of reach: models that are called by `model.forward(x)`, and `F.dropout` with a fixed `training`.
    """
    from traindx.experiment.runtime.torch.effective_modes import ForcedModes

    modes = ForcedModes(hooks)
    hooks.otherwise("the model was in the right mode at every call")
    hooks.model_call(modes.on_model_call)
    hooks.after_model_call(modes.on_output)
    hooks.before_backward(modes.backward)
