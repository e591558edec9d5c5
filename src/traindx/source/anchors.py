"""Where a script sets what a cause is about: the line of the learning rate, of the loss, of the loader.

For a number that comes from a constant, an option or a configuration it is the line of the number.
"""

from __future__ import annotations

from collections.abc import Callable

from traindx.core.nouns import Place
from traindx.source import anchors_of_data as data
from traindx.source import anchors_of_loop as loop
from traindx.source import anchors_of_loss as loss
from traindx.source import anchors_of_model as model
from traindx.source import anchors_of_ranks as ranks
from traindx.source import anchors_of_sets as sets
from traindx.source.anchors_of_samples import pairing, sample
from traindx.source.edit_pieces import place
from traindx.source.script import Script
from traindx.source.training import Training
from traindx.source.values import Spot

Finder = Callable[[Training], Spot | None]

FINDERS: dict[str, Finder] = {
    "lr": loop.rate,
    "momentum": loop.momentum,
    "betas": loop.betas,
    "eps": loop.epsilon,
    "weight_decay": loop.weight_decay,
    "optimizer": loop.optimizer,
    "backward": loop.backward,
    "step": loop.step,
    "zero_grad": loop.zero_grad,
    "scheduler": loop.scheduler,
    "scheduler_step": loop.scheduler_step,
    "warmup": loop.warmup,
    "clip": loop.clip,
    "accumulation": loop.accumulation,
    "loss": loss.loss,
    "loss_call": loss.loss_call,
    "penalty": loss.penalty,
    "compared": loss.compared,
    "loss_sum": loss.loss_sum,
    "loop": loop.training_loop,
    "eval_mode": loop.eval_mode,
    "train_mode": loop.train_mode,
    "precision": loop.precision,
    "scaler": loop.scaler,
    "resume": loop.resume,
    "metric": loop.metric,
    "waiting": loop.waiting,
    "model": model.model,
    "narrowest": model.narrowest,
    "widest": model.widest,
    "output_layer": model.output_layer,
    "output_activation": model.output_activation,
    "activation": model.activation,
    "saturating": model.saturating,
    "relu": model.relu,
    "init": model.init,
    "dropout": model.dropout,
    "normalisation": model.normalisation,
    "freeze": model.freeze,
    "math": model.math,
    "repeated": model.repeated,
    "batch_size": data.batch_size,
    "train_loader": data.train_loader,
    "val_loader": data.val_loader,
    "workers": data.workers,
    "inputs": data.inputs,
    "targets": data.targets,
    "split": data.split,
    "shuffle": data.shuffle,
    "augmentation": data.augmentation,
    "samples": sets.samples,
    "columns": sets.columns,
    "val_transform": sets.val_transform,
    "val_inputs": sets.val_inputs,
    "spoiled": sets.spoiled,
    "pairing": pairing,
    "sample": sample,
    "mask": sets.mask,
    "leak": sets.leak,
    "unsynced": ranks.unsynced,
    "wrapper": ranks.wrapper,
    "by_rank": ranks.by_rank,
}


def anchor(script: Script, name: str) -> Place | None:
    """The line that sets `name` (`lr`, `optimizer`, `loss`, ...); None when it is not known."""
    finder = FINDERS.get(name)
    if finder is None:
        return None
    try:
        spot = finder(script.training)
    except (LookupError, RecursionError):
        return None
    return place(spot) if spot is not None and hasattr(spot.node, "lineno") else None
