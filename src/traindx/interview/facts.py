"""Facts about the run in a user's own words: settings, and values of curves."""

from __future__ import annotations

import re

from traindx.core.nouns import Run, Scalar, Series
from traindx.interview.clauses import words
from traindx.interview.observations import observations
from traindx.interview.pasted import log_in, pasted_run, series_of
from traindx.interview.stated_settings import stated_settings
from traindx.interview.typed_numbers import NUMBER, numbers_in

# Settings that only their own words name; `constant` or `100 images` may mean something else in a text.
_SETTINGS = ("optimizer", "lr", "batch_size", "warmup", "weight_decay", "dropout", "momentum", "clip")
_SCHEDULE = re.compile(
    r"\b(cosine|linear|constant|step|polynomial)(?= (?:lr |learning rate )?(?:schedule|decay))"
)
_NO_SCHEDULE = re.compile(r"\b(?:no|without(?: an?)?) (?:lr |learning rate )?schedule")
_SEQUENCE = re.compile(rf"(?:{NUMBER.pattern}(?:\s*[,;]\s*|\s+|$)){{4,}}", re.IGNORECASE)
# Quantities of which one number says much: the curve it is a value of, and its unit.
_LEVELS = {"gradient": ("grad_norm", 1.0), "device": ("gpu_busy_share", 100.0)}
_LINES = 3


def facts_in(text: str) -> tuple[dict[str, Scalar], Run | None]:
    """The settings that a text names, and the curves it holds."""
    plain = _SEQUENCE.sub(" ", text)
    all_settings = stated_settings(plain, ())
    settings = {name: all_settings[name] for name in _SETTINGS if name in all_settings}
    lower = text.lower()
    if _NO_SCHEDULE.search(lower):
        settings["schedule"] = "constant"
    elif match := _SCHEDULE.search(lower):
        settings["schedule"] = match[1]
    return settings, _curves(text)


def _curves(text: str) -> Run | None:
    """Lines of a log; else sequences of numbers, each named by the words before it."""
    if sum(bool(NUMBER.search(line)) for line in text.splitlines()) >= _LINES and (run := log_in(text)):
        return run
    series: dict[str, Series] = {}
    end = 0
    for match in _SEQUENCE.finditer(text):
        name = _quantity_before(text[end : match.start()])
        end = match.end()
        series.setdefault(name, series_of(name, numbers_in(match[0])))
    for observation in observations(_SEQUENCE.sub(" ", text)):
        name, unit = _LEVELS.get(observation.quantity, ("", 1.0))
        if name and observation.values:
            series.setdefault(name, series_of(name, [observation.values[-1] / unit]))
    return pasted_run(series) if series else None


def _quantity_before(before: str) -> str:
    """The curve that the last words before a sequence name; the training loss when they name none."""
    words_before = words(before)
    quantity = next((word.name for word in reversed(words_before) if word.kind == "quantity"), "loss")
    side = next((word.name for word in reversed(words_before) if word.kind == "side"), "train")
    metric = {"gradient": "grad_norm", "rate": "lr", "score": "accuracy"}.get(quantity, "loss")
    return f"val/{metric}" if side == "val" and metric in ("loss", "accuracy") else metric
