"""A metric does not fit the task, or a callback of Keras monitors a missing one or the wrong way.

Seen when `EarlyStopping`, `ModelCheckpoint` or `ReduceLROnPlateau` monitors a `val_` number and `fit` gets no
validation data, or a metric that `compile` does not name: the callback never acts. Seen when its `mode` is
"max" for a loss or "min" for an accuracy: it stops, saves or lowers the rate at the wrong time. And when
accuracy is the metric of a regression, where it counts outputs that equal a real number.

Silent when metrics are given as objects, and about the names of metrics of models of the script's own and of
several outputs. Known mistake: none yet.
"""

from collections.abc import Iterator

from traindx.evidence.detectors._script import Detector, Finding, Places, Scripts, Skipped, Training
from traindx.evidence.detectors._script.keras_samples import fitted
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place
from traindx.source.execution import CallEvent
from traindx.source.keras import Compiled, callbacks_of, compiled, validates
from traindx.source.values import Const, Made

DETECTOR = Detector(title="metric that does not fit", family="script_metric")
_MONITORS = frozenset("EarlyStopping ModelCheckpoint ReduceLROnPlateau".split())
_HIGHER = ("accuracy", "acc", "auc", "precision", "recall", "f1", "f1_score")
_LOWER = ("loss", "mae", "mse", "error", "perplexity")
_REGRESSION = frozenset("mse mae huber log_cosh".split())
_ACCURACY = frozenset("accuracy acc".split())
_OF_FIT = frozenset("loss learning_rate lr".split())
_DEFAULT = "val_loss"


def detect(training: Training) -> Places:
    models = compiled(training.trace)
    if not models:
        return Skipped("a compiled Keras model")
    return [finding for one in models for finding in _of_model(one)]


def _of_model(model: Compiled) -> Iterator[Finding]:
    for fit in model.fits:
        for callback in callbacks_of(fit):
            finding = _of_callback(model, fit, callback) if callback.short in _MONITORS else None
            if finding is not None:
                yield finding
    unfit = _ACCURACY.intersection(model.metrics or ())
    if unfit and model.loss in _REGRESSION and model.activation == "linear" and model.units == 1:
        spot = model.event.spot
        text = (
            f"{where(spot)}: the loss {model.loss} fits real numbers, and the metric {min(unfit)} counts how "
            f"often output and target are equal (line {spot.line}): it says nothing."
        )
        yield Finding(text, places=(place(spot),))


def _of_callback(model: Compiled, fit: CallEvent, callback: Made) -> Finding | None:
    spot = callback.spot
    given = callback.argument(1 if callback.short == "ModelCheckpoint" else 0, "monitor")
    monitor = _DEFAULT if given is None else getattr(given, "value", None)
    if spot is None or callback.open or not isinstance(monitor, str) or _saves_always(callback):
        return None
    mode = callback.keywords.get("mode")
    base = monitor.removeprefix("val_")
    wrong = {"max": _LOWER, "min": _HIGHER}.get(str(getattr(mode, "value", "")), ())
    if base.endswith(wrong) and wrong:
        better = "lower" if wrong is _LOWER else "higher"
        text = f"{where(spot)}: {code(spot)} takes the opposite for better: {monitor} is good when {better}"
        return Finding(f"{text} (line {spot.line}).", "silent_defect", "medium", places=(place(spot),))
    if monitor != base and not validates(fit):
        why = f"`fit` (line {fit.spot.line}) gets no validation data"
    elif base not in _OF_FIT and model.last is not None and model.metrics is not None:
        if base in model.metrics:
            return None
        why = f"`compile` (line {model.event.spot.line}) names no metric {base}"
    else:
        return None
    text = f"{where(spot)}: {code(spot)} waits for {monitor}, and {why}: it never acts."
    return Finding(text, "silent_defect", "low", places=(place(spot), place(fit.spot)))


def _saves_always(callback: Made) -> bool:
    """A checkpoint that is saved whatever the metric."""
    if callback.short != "ModelCheckpoint":
        return False
    best = callback.argument(3, "save_best_only")
    return not (isinstance(best, Const) and best.value is True)


_STOP = "keras.callbacks.EarlyStopping({})"
_BEST = 'keras.callbacks.ModelCheckpoint("best.keras", {}save_best_only={})'


def _with(callback: str, fit: str = "validation_split=0.2, ") -> str:
    return f"{fit}callbacks=[{callback}]"


def fires() -> Scripts:
    yield fitted(fit=_with(_STOP.format("patience=3"), ""))
    yield fitted(fit=_with(_STOP.format('monitor="val_acc"')))
    yield fitted(fit=_with(_STOP.format('monitor="val_loss", mode="max"')))
    yield fitted(fit=_with(_BEST.format('monitor="val_accuracy", mode="min", ', True)))
    yield fitted(fit=_with('keras.callbacks.ReduceLROnPlateau("val_f1")'))
    yield fitted(layers="layers.Dense(1),", loss="mse")


def silent() -> Scripts:
    yield fitted(fit=_with(_STOP.format("patience=3")))
    yield fitted(fit=_with(_STOP.format('"val_accuracy", mode="max"')))
    yield fitted(fit=_with(_STOP.format('monitor="loss"'), ""))
    yield fitted(fit=_with(_BEST.format('monitor="val_loss", ', False), ""))
    yield fitted(
        fit=_with('keras.callbacks.ReduceLROnPlateau("loss", mode="min")', "validation_data=(a, b), ")
    )
    yield fitted(fit=_with(_STOP.format("patience=3"), "**given, "))
    yield fitted(layers='layers.Dense(1, activation="sigmoid"),', loss="binary_crossentropy")
