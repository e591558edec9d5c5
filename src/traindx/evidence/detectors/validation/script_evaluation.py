"""The evaluation in the script."""

from collections.abc import Iterator

from traindx.evidence.detector import Cases, Detector
from traindx.evidence.detectors._script import Finding, Iterations, Places, Skipped, Training, script
from traindx.evidence.detectors._script.keras_samples import fitted
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place
from traindx.source.execution import CallEvent
from traindx.source.flow import parts
from traindx.source.keras import Compiled, callbacks_of, compiled, validates
from traindx.source.parameters import held
from traindx.source.values import Const, Made, Value, options

_MODAL = ("Dropout", "BatchNorm", "AlphaDropout", "SyncBatchNorm")
_OWN_TARGET = (
    "with torch.no_grad(): t = model(x)\noptimizer.zero_grad()\n"
    "criterion(model(x), t).backward()\noptimizer.step()"
)
_DROPOUT = "self.drop = nn.Dropout(0.3)"
_VALIDATE = "with torch.no_grad():\n    for a, b in val_loader: score = criterion(model(a), b).item()"
_MONITORS = frozenset("EarlyStopping ModelCheckpoint ReduceLROnPlateau".split())
_HIGHER = ("accuracy", "acc", "auc", "precision", "recall", "f1", "f1_score")
_LOWER = ("loss", "mae", "mse", "error", "perplexity")
_REGRESSION = frozenset("mse mae huber log_cosh".split())
_ACCURACY = frozenset("accuracy acc".split())
_OF_FIT = frozenset("loss learning_rate lr".split())
_DEFAULT = "val_loss"
_STOP = "keras.callbacks.EarlyStopping({})"
_BEST = 'keras.callbacks.ModelCheckpoint("best.keras", {}save_best_only={})'


@Detector("validated in train mode", family="script_mode", measured_by="validates_in_train_mode")
def script_eval_missing(training: Training, iterations: Iterations) -> Places:
    """The model is validated in train mode: dropout drops and batch norm learns from validation data.

    Seen when a model with dropout or batch norm that the optimizer trains is called under `no_grad()`
    outside the training loop, and `eval()` was not called on it before.

    Silent inside the training loop (targets of the model's own are computed there), when a framework
    switches modes, and when the model has neither layer. Known mistake: dropout that is kept on purpose to
    sample.
    """
    if training.managed or not training.followed("eval"):
        return Skipped("a training loop of the script's own that can be followed")
    calls = [e for e in training.trace.events if e.value.kind == "apply" and e.grad_off and e.root is None]
    loops = {iteration.loop for iteration in iterations}
    outside = [e for e in calls if e.loops and not loops & set(e.loops) and not e.handed]
    if not outside:
        return Skipped("validation under no_grad()")
    ours = held(training)
    findings: dict[int, Finding] = {}
    for event in outside:
        model = event.value.receiver
        if (
            model is not None
            and id(model) in ours
            and _modal(model)
            and not _evaluating(training, event, model)
        ):
            findings.setdefault(id(event.spot.node), _finding(event))
    return [*findings.values()]


def _modal(model: Value) -> bool:
    """Whether a model has layers that act otherwise in training."""
    return any(isinstance(part, Made) and part.short.startswith(_MODAL) for part in [model, *parts(model)])


def _evaluating(training: Training, event: CallEvent, model: Value) -> bool:
    """Whether the last switch before the call was eval(), on the model or on anything that may hold it."""
    state = False
    for switch in training.trace.methods("eval", "train"):
        if switch.at >= event.at:
            break
        concerned = [way for way in options(switch.value.receiver) if way is model or not _apart(way, model)]
        if concerned:
            mode = switch.value.argument(0, "mode")
            off = isinstance(mode, Const) and mode.value is False
            unsure = mode is not None and not isinstance(mode, Const)
            state = switch.value.name == "eval" or off or unsure
    return state


def _apart(peer: Value, model: Value) -> bool:
    """Whether two are surely different models, neither inside the other."""
    inner = {id(part) for part in parts(peer)} | {id(part) for part in parts(model)}
    return id(peer) not in inner and id(model) not in inner and peer.spot is not None and hasattr(peer, "cls")


def _finding(event: CallEvent) -> Finding:
    text = (
        f"{where(event.spot)}: {code(event.spot)} runs the model on validation data in train mode: nothing "
        "calls eval() before it, and the model has dropout or batch norm."
    )
    return Finding(text, "silent_defect", "medium", places=(place(event.spot),))


@Detector("metric that does not fit", family="script_metric")
def script_metric_unfit(training: Training) -> Places:
    """A metric does not fit the task, or a callback of Keras monitors a missing one or the wrong way.

    Seen when `EarlyStopping`, `ModelCheckpoint` or `ReduceLROnPlateau` monitors a `val_` number and `fit`
    gets no validation data, or a metric that `compile` does not name: the callback never acts. Seen when its
    `mode` is "max" for a loss or "min" for an accuracy: it stops, saves or lowers the rate at the wrong
    time. And when accuracy is the metric of a regression, where it counts outputs that equal a real number.

    Silent when metrics are given as objects, and about the names of metrics of models of the script's own
    and of several outputs. Known mistake: none yet.
    """
    models = compiled(training.trace)
    if not models:
        return Skipped("a compiled Keras model")
    return [finding for model in models for finding in _of_model(model)]


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
    argument = callback.argument(1 if callback.short == "ModelCheckpoint" else 0, "monitor")
    monitor = _DEFAULT if argument is None else getattr(argument, "value", None)
    if spot is None or callback.open or not isinstance(monitor, str) or _saves_always(callback):
        return None
    mode = callback.keywords.get("mode")
    base = monitor.removeprefix("val_")
    wrong = {"max": _LOWER, "min": _HIGHER}.get(str(getattr(mode, "value", "")), ())
    if base.endswith(wrong) and wrong:
        better = "lower" if wrong is _LOWER else "higher"
        text = f"{where(spot)}: {code(spot)} takes the opposite for better: {monitor} is good when {better}"
        speaks_for = "rate_cut_while_improving" if callback.short == "ReduceLROnPlateau" else ""
        sentence = f"{text} (line {spot.line})."
        return Finding(sentence, "silent_defect", "medium", places=(place(spot),), counts_as=speaks_for)
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


def _with(callback: str, fit: str = "validation_split=0.2, ") -> str:
    return f"{fit}callbacks=[{callback}]"


def cases() -> Cases:
    yield from script_eval_missing.fires(
        script(init=_DROPOUT, end=_VALIDATE),
        script(init="self.norm = nn.BatchNorm1d(16)", end="model.train()\n" + _VALIDATE),
    )
    yield from script_eval_missing.silent(script(init=_DROPOUT, end="model.eval()\n" + _VALIDATE))
    yield from script_eval_missing.silent(script(end=_VALIDATE))
    yield from script_eval_missing.silent(script(init=_DROPOUT))
    yield from script_eval_missing.silent(script(init=_DROPOUT, body=_OWN_TARGET))
    yield from script_metric_unfit.fires(
        fitted(fit=_with(_STOP.format("patience=3"), "")),
        fitted(fit=_with(_STOP.format('monitor="val_acc"'))),
        fitted(fit=_with(_STOP.format('monitor="val_loss", mode="max"'))),
        fitted(fit=_with(_BEST.format('monitor="val_accuracy", mode="min", ', True))),
        fitted(fit=_with('keras.callbacks.ReduceLROnPlateau("val_f1")')),
        fitted(layers="layers.Dense(1),", loss="mse"),
    )
    yield from script_metric_unfit.silent(
        fitted(fit=_with(_STOP.format("patience=3"))),
        fitted(fit=_with(_STOP.format('"val_accuracy", mode="max"'))),
        fitted(fit=_with(_STOP.format('monitor="loss"'), "")),
        fitted(fit=_with(_BEST.format('monitor="val_loss", ', False), "")),
        fitted(
            fit=_with('keras.callbacks.ReduceLROnPlateau("loss", mode="min")', "validation_data=(a, b), ")
        ),
        fitted(fit=_with(_STOP.format("patience=3"), "**given, ")),
        fitted(layers='layers.Dense(1, activation="sigmoid"),', loss="binary_crossentropy"),
    )
