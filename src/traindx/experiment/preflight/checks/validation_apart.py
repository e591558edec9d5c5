"""Training and validation differ in mode only: same scale, no shared samples, eval mode where it matters.

Told by the recording: the mode at each call with and without gradients, samples known again, the scale of
inputs. Beside it, the first batch goes through the model twice in eval mode: what still differs there is
drawn at random in eval mode, too.
"""

from __future__ import annotations

from traindx.experiment.preflight.check import Answer, Item, passed, unknown
from traindx.experiment.preflight.failure_advice import from_finding
from traindx.experiment.preflight.observations import UNTOUCHED, Flight, told

ITEM = Item(title="Train and validation differ only in mode", group="model", order=2)
_DETECTORS = (
    "validates_in_train_mode",
    "trains_in_eval_mode",
    "validation_seen",
    "validation_shifted",
    "weights_not_restored",
)


def look(flight: Flight) -> Answer:
    case = flight.untouched
    if case is None:
        return unknown(flight.why_not(UNTOUCHED))
    found = flight.trouble(*_DETECTORS)
    if found is not None:
        return from_finding(flight, found)
    measured = flight.measure("modes")
    told_of = _mode_words(flight)
    validated = case.val_loss is not None or bool(case.inside.fact("samples").get("validation"))
    random = told(measured, "eval_repeat") or 0.0
    if random > 0:
        told_of += "; it draws random numbers in eval mode, too"
    numbers = {
        key: value
        for key in ("eval_repeat", "train_eval", "dropout", "batch_norm")
        if (value := told(measured, key)) is not None
    }
    if not validated:
        text = f"no validation was seen in {case.run.last_step or 0:,.0f} steps"
        return unknown(f"{text}{f' ({told_of})' if told_of else ''}.", **numbers)
    return passed(
        f"validation was seen: same scale, no known samples{f'; {told_of}' if told_of else ''}.", **numbers
    )


def _mode_words(flight: Flight) -> str:
    measured = flight.measure("modes")
    dropout, norms = told(measured, "dropout"), told(measured, "batch_norm")
    differ = told(measured, "train_eval")
    if dropout is None or norms is None or differ is None:
        return ""
    parts = [f"{dropout:.0f} dropout"] if dropout else []
    parts += [f"{norms:.0f} batch norm"] if norms else []
    if not parts:
        return (
            "mode changes nothing" if not differ else f"mode changes the output by {differ:.2g} of its size"
        )
    return f"mode changes the output by {differ:.2g} of its size ({', '.join(parts)})"
