"""What modes and inputs change in the model's output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from traindx.experiment.runtime.torch.measuring.model import apart

if TYPE_CHECKING:
    from traindx.experiment.runtime.torch.measuring.first_step import FirstStep


def measured(first: FirstStep) -> dict[str, Any]:
    """The same batch in eval mode twice, and in training mode."""
    model = first.model
    with torch.no_grad():
        output, repeated = model.again(training=False), model.again(training=False)
        trained = model.again(training=True)
    return {
        "eval_repeat": apart(output, repeated),
        "train_eval": apart(output, trained),
        "dropout": model.dropouts(),
        "batch_norm": model.batch_norms(),
    }


def inputs(first: FirstStep) -> dict[str, Any]:
    """How much of the output changes when the inputs are zeros, in both modes."""
    from traindx.experiment.runtime.torch.measuring.first_step import Unmeasured, zeroed
    from traindx.experiment.runtime.torch.streams import Streams
    from traindx.experiment.runtime.torch.tensors import tensors_in

    model = first.model
    blank = zeroed(model.args)
    pairs = zip(tensors_in(model.args), tensors_in(blank), strict=True)
    if all(torch.equal(tensor, blank_tensor) for (_, tensor), (_, blank_tensor) in pairs):
        raise Unmeasured("the model is given nothing that could be zeroed")
    streams = Streams()
    streams.save()
    changes = []
    for training in (False, True):
        with torch.no_grad():
            streams.restore()
            output = model.again(training=training)
            streams.restore()
            blank_output = model.again(blank, training=training)
        changes.append(apart(output, blank_output))
    return {"change": max(changes), "spread": float(output.double().std()) if output.numel() > 1 else 0.0}
