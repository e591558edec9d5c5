"""The first loss is far above what an untrained model should give.

An untrained classifier guesses evenly and starts near ln K. Seen when K is known from the settings and the
loss starts at {chance_factor} times ln K or more; or when the loss starts at an absurd size (over
{huge_loss}), as it does with targets or inputs that were never scaled.

Trainers made for language models are also held to the largest vocabularies, whose guesses cost about
12.4. Could not look when K is not known and the size is ordinary: a regression may start anywhere.
"""

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.testing.sketch import decay, run

_LANGUAGE = frozenset({"hf-trainer", "llamafactory"})
DETECTOR = Detector(title="Loss starts too high", family="start", guards=("surrogate",))


def detect(
    case: Case,
    loss: Curve,
    *,
    chance_factor: float = 1.6,
    huge_loss: float = 1e4,
    language_model_loss: float = 13.0,
) -> Detected:
    if not len(loss):
        return Skipped("a training loss")
    if loss.course.starts_late:
        return Skipped("the start of the training (the log begins in the middle)")
    first = float(loss.y[0])
    chance = next(iter(case.task.known_chances), None)
    if chance is not None and (case.number("classes") or 0) < 2:
        chance = None
    if chance is not None and first > chance_factor * chance.level and loss.tail < 50:
        text = f"The first loss is {first:.4g}, {first / chance.level:.3g} times chance level ({chance.why})."
        return Finding(text, step=float(loss.x[0]))
    if first > huge_loss:
        text = f"The loss starts at {first:.4g}: inputs or targets of this size want scaling."
        return Finding(text, step=float(loss.x[0]))
    if _LANGUAGE & set(case.run.formats) and first > language_model_loss:
        text = f"The first loss is {first:.4g}; even guesses over the largest vocabularies give about 12.4."
        return Finding(text, step=float(loss.x[0]), strength=0.7)
    return Skipped("the number of classes in the configuration (classes)") if chance is None else None


def fires() -> Runs:
    yield run({"loss": decay(50, 8.0, 1.0)}, settings={"classes": 10})
    yield run({"loss": decay(50, 1e13, 10.0)})


def silent() -> Runs:
    yield run({"loss": decay(50, 2.4, 1.0)}, settings={"classes": 10})
    yield run({"loss": decay(50, 26.0, 5.0)})
