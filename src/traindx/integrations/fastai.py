"""fastai: `Learner(dls, model, cbs=TraindxCallback())`, or `learn.fit(3, cbs=TraindxCallback())`."""

from __future__ import annotations

from typing import Any, Unpack

from traindx.integrations._session import CallbackOptions, Session, framework

_LEARNER: Any = framework("fastai.learner", "fastai")
# Columns of fastai's own table that say nothing of the training.
_NO_METRICS = ("epoch", "time", "train_loss")


class TraindxCallback(_LEARNER.Callback):  # type: ignore[misc]
    """Records the training with the metrics of the Learner, and prints its diagnosis at the end."""

    order = _LEARNER.Recorder.order + 1

    def __init__(self, **options: Unpack[CallbackOptions]) -> None:
        super().__init__()
        self.session = Session(**options)

    def before_fit(self) -> None:
        # The learning-rate finder and predictions call fit, too.
        self.run = not hasattr(self.learn, "lr_finder") and not hasattr(self.learn, "gather_preds")
        if self.run:
            self.session.begin(self.learn.model)
            self.session.settings({"epochs": self.learn.n_epoch, "batch_size": self.learn.dls.train.bs})

    def after_batch(self) -> None:
        if self.learn.training:
            self.session.log({"lr": self.learn.opt.hypers[-1]["lr"]})

    def after_epoch(self) -> None:
        recorder = self.learn.recorder
        table = zip(recorder.metric_names, recorder.log, strict=False)
        self.session.log({_metric_name(name): value for name, value in table if name not in _NO_METRICS})
        if self.session.stop_wanted():
            raise _LEARNER.CancelFitException

    def after_fit(self) -> None:
        self.session.end()


def _metric_name(name: str) -> str:
    """fastai's metrics are those of the validation set."""
    return f"val/{name.removeprefix('valid_')}"
