"""Gradient clipping is switched off.

Seen when the configuration names a clipping norm and sets it to 0, below 0, or so high
({clip_without_effect}) that it never acts. Stronger for recurrent nets, which need it most.

Could not look when the configuration does not name it: absent is not the same as off.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.testing.sketch import run

DETECTOR = Detector(title="Gradient clipping off", needs=("setting:clip",), family="clipping")
_RECURRENT = ("lstm", "gru", "rnn", "seq2seq")


def detect(case: Case, *, clip_without_effect: float = 1000.0) -> Detected:
    clip = case.number("clip")
    if clip is None and case.word("clip") in ("false", "none", "off"):
        clip = 0.0
    if clip is None or clip != clip:
        return Skipped("the clipping norm as a number")
    if 0 < clip < clip_without_effect:
        return None
    recurrent = any(word in case.word("model") for word in _RECURRENT)
    sentence = f"Gradient clipping is off (clip = {text(clip)}; 0.5 to 5 is usual)."
    return Finding(sentence, strength=1.0 if recurrent else 0.7, numbers={"clip": clip})


def fires() -> Runs:
    yield run({}, settings={"clip": 0.0})
    yield run({}, settings={"clip": -1, "model": "lstm"})
    yield run({}, settings={"clip": 1e9})


def silent() -> Runs:
    yield run({}, settings={"clip": 1.0})
    yield run({}, settings={"clip": 0.1})
    yield run({}, settings={"clip": "norm"})
