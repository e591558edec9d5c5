"""Inputs and targets as the model and the loss get them."""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import Hooks, change

# Losses that compare values; others want their targets as they are.
_DISTANCES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")


@change(knobs=("inputs",))
def normalise_inputs(hooks: Hooks) -> None:
    """Bring the model's numeric inputs to mean 0 and deviation 1, feature by feature.

    The statistics are those of the first 8 training calls of each model, as far as they have come, and stay
    from then on, in validation, too. A feature is the last dimension of a table or a sequence, the channel
    of an image. A target that is the input itself (of an autoencoder) is normalised alike.

    Out of reach: models that are called by `model.forward(x)`, and inputs that are tokens.
    """
    from traindx.experiment.runtime.torch.labels import is_numeric
    from traindx.experiment.runtime.torch.normalising import FeatureMoments, channel_axis

    moments_by_input: dict[tuple[int, str], FeatureMoments] = {}
    given_now: dict[int, tuple[Any, FeatureMoments]] = {}

    def on_model_call(call: Any, root: Any) -> None:
        if not call.fresh:
            return
        given_now.clear()

        def normalised(name: str, tensor: Any) -> Any:
            if not is_numeric(name, tensor) or tensor.dim() < 2:
                return tensor
            key = (id(root), name)
            moments = moments_by_input.setdefault(key, FeatureMoments(channel_axis(root, tensor)))
            if call.training or not moments.count:
                moments.add(tensor)
            if not hooks.has_changed:
                hooks.changed(f"{name}: {moments.text()}")
            given_now[tensor.data_ptr()] = (tensor, moments)
            return moments.normalised(tensor)

        call.replace(normalised)

    def on_loss_call(loss: Any) -> None:
        if loss.name not in _DISTANCES:
            return
        known_input = given_now.get(loss.target.data_ptr())
        if known_input is not None and known_input[0].numel() == loss.target.numel():
            tensor, moments = known_input
            loss.target = moments.normalised(tensor).reshape(loss.target.shape)

    hooks.otherwise("no module with parameters was given numbers that are not computed by another")
    hooks.model_call(on_model_call)
    hooks.loss_call(on_loss_call)


@change(knobs=("inputs",))
def zero_inputs(hooks: Hooks) -> None:
    """Give the model nothing to see: zeros instead of its inputs, one token instead of a text.

    Every outermost call of a model gets zeros of the same shape for its numbers, in training and validation.
    Integer inputs (tokens, categories) become one constant id. Masks, labels and the structure of a graph
    stay as they are.

    Out of reach: models that are called by `model.forward(x)` or are no modules of torch.
    """
    import torch

    from traindx.experiment.runtime.torch.labels import is_input, tensor_text

    tokens: dict[str, int] = {}

    def blank(name: str, tensor: torch.Tensor) -> torch.Tensor:
        if not is_input(name, tensor):
            return tensor
        if tensor.is_floating_point() or tensor.is_complex():
            hooks.changed(f"{tensor_text(name, tensor)} is zeros")
            return torch.zeros_like(tensor)
        token = tokens.setdefault(name, int(tensor.flatten().median()))
        hooks.changed(f"{tensor_text(name, tensor)} is {token} everywhere")
        return torch.full_like(tensor, token)

    def on_model_call(call: Any, root: object) -> None:
        del root
        if call.fresh:
            call.replace(blank)

    hooks.otherwise("no module with parameters was called with tensors that are not computed by another")
    hooks.model_call(on_model_call)


@change(knobs=("inputs",))
def shuffle_inputs(hooks: Hooks) -> None:
    """Give the model other samples' inputs: what is left to learn does without them.

    In training, each call of a model gets the inputs of other samples, of this batch and those before; masks
    and whatever else belongs to a sample come with them, labels stay.

    Out of reach: models that are called by `model.forward(x)`, and graphs, whose samples are not rows.
    """
    from traindx.experiment.runtime.torch.labels import is_input, is_label, is_structure, tensor_text
    from traindx.experiment.runtime.torch.tensors import Pool

    pools: dict[int, Pool] = {}

    def on_model_call(call: Any, root: Any) -> None:
        named_tensors = call.tensors()
        if not (call.training and call.fresh and any(is_input(*pair) for pair in named_tensors)):
            return
        if any(is_structure(name) for name, _ in named_tensors):
            hooks.cannot("the model is given a graph, whose samples are not the rows of its tensors")
        first = next(tensor for name, tensor in named_tensors if is_input(name, tensor))
        rows = first.shape[0] if first.dim() else 0
        movable = [
            i
            for i, (name, tensor) in enumerate(named_tensors)
            if not is_label(name) and tensor.shape[:1] == (rows,)
        ]
        if not rows or not movable:
            return
        rows_drawn = pools.setdefault(id(root), Pool()).drawn_together([named_tensors[i][1] for i in movable])
        new = iter(rows_drawn)
        places = iter(range(len(named_tensors)))
        call.replace(lambda _, tensor: next(new) if next(places) in movable else tensor)
        hooks.changed(
            f"{tensor_text(*named_tensors[movable[0]])} of {type(root).__name__} is another sample's"
        )

    hooks.otherwise("no module with parameters was called with tensors that are not computed by another")
    hooks.model_call(on_model_call)


@change(knobs=("labels",))
def shuffle_labels(hooks: Hooks) -> None:
    """Give the training other samples' labels: what is left to learn does without them.

    The targets of torch's loss functions are replaced, while gradients are recorded, by targets drawn from
    this batch and those before. A loss written by hand is reached through the DataLoader: the parts of its
    batches that do not go into the model are exchanged from the second batch on. Validation keeps its
    labels.

    Out of reach: a loss written by hand on batches that no DataLoader gives.
    """
    import torch

    from traindx.experiment.runtime.torch.labels import LabelParts, is_label, shuffled_target
    from traindx.experiment.runtime.torch.tensors import Pool

    pool, label_pool, parts, labels_reached = Pool(), Pool(), LabelParts(), False

    def on_loss_call(loss: Any) -> None:
        nonlocal labels_reached
        if loss.training and loss.input.requires_grad and not loss.target.requires_grad:
            labels_reached = True
            old_target, loss.target = loss.target, shuffled_target(loss, pool)
            share = float((old_target != loss.target).float().mean())
            if share and not hooks.has_changed:
                hooks.changed(
                    f"targets of {loss.name} are other samples' ({share:.0%} of the first batch differ)"
                )

    def on_batch(batch: Any, source: object, trains: bool) -> Any:
        del source
        if not torch.is_grad_enabled() or labels_reached:
            return batch
        return parts.exchanged(batch, trains, hooks.changed)

    def on_model_call(call: Any, root: object) -> None:
        nonlocal labels_reached
        parts.on_model_call(call, root)
        if call.training and any(is_label(name) for name, _ in call.tensors()):
            labels_reached = True
            call.replace(
                lambda name, tensor: label_pool.drawn(tensor) if is_label(name) and tensor.dim() else tensor
            )
            hooks.changed("labels given to the model are other samples'")

    def backward() -> None:
        if not labels_reached:
            reason = parts.learn()
            if reason:
                hooks.cannot(reason)

    hooks.otherwise("no loss function of torch was given targets, and no DataLoader gave labels")
    hooks.loss_call(on_loss_call)
    hooks.batch(on_batch)
    hooks.model_call(on_model_call)
    hooks.after_backward(backward)


@change(knobs=("data",))
def repeat_batch(hooks: Hooks) -> None:
    """Train on one batch for ever: a model that learns must bring its loss down to the floor.

    Where a DataLoader feeds the training, its first batch is given at every step; epochs keep their length
    and validation keeps its data. Otherwise the model's inputs and the targets of torch's loss functions are
    those of the first step. Where the loss is written by hand and no DataLoader is used, the states of the
    random generators are put back after each step so that the script draws the same batch again; whether it
    does is checked.

    Out of reach: batches that a script takes in order, without a DataLoader, for a loss written by hand.
    """
    from traindx.experiment.runtime.torch.repeating import Repeating

    repeating = Repeating(hooks)
    hooks.otherwise("no backward pass was seen after the first step")
    hooks.batch(repeating.on_batch)
    hooks.model_call(repeating.on_model_call)
    hooks.loss_call(repeating.on_loss_call)
    hooks.after_backward(repeating.backward)
    hooks.after_step(repeating.stepped)
