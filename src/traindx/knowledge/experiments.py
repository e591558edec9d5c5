"""What experiments say about causes: how likely each outcome is if this is the cause (experiments.toml)."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from traindx.knowledge.catalogue import causes, remedies

Measure = Literal["gain", "fit", "need"]
# One experiment on one training says no more than this.
_MOST_BITS = 5.0
_FILE = Path(__file__).parent / "experiments.toml"


@dataclass(frozen=True)
class Experiment:
    """Something to change and to watch; `causes` and `others` are words of its measure's profiles.

    In addition to the outcomes of its measure there is `active`: not inert, and not measured further.
    """

    id: str
    title: str
    measure: Measure
    others: str
    causes: Mapping[str, str]
    remedy: str = ""
    change: str = ""
    symptoms: frozenset[str] = field(default_factory=frozenset)
    alone: bool = False

    @property
    def outcomes(self) -> tuple[str, ...]:
        return tuple(profiles()[self.measure][self.others])

    def likely(self, outcome: str, cause: str | None) -> float:
        """How likely an outcome is if this is the cause; None: if it is none that is known."""
        word = self.causes.get(cause, self.others) if cause is not None else self.others
        row = profiles()[self.measure][word]
        return 1.0 - row["inert"] if outcome == "active" else row[outcome]

    def bits(self, outcome: str, cause: str) -> float:
        """Evidence of an outcome for a cause, compared with one that the experiment says nothing of."""
        raw = math.log2(self.likely(outcome, cause) / self.likely(outcome, None))
        return max(-_MOST_BITS, min(_MOST_BITS, raw))


@cache
def profiles() -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    """Measure -> word -> outcome -> probability."""
    return dict(_document()["profiles"])


@cache
def experiments() -> Mapping[str, Experiment]:
    """Every experiment by its id: those of the file, and every other remedy that can be tried."""
    by_id = {id: _experiment(id, entry) for id, entry in _document()["experiments"].items()}
    covered = {experiment.remedy for experiment in by_id.values()}
    for remedy in remedies().values():
        if remedy.trials and remedy.id not in covered:
            by_id[remedy.id] = _experiment(remedy.id, {"remedy": remedy.id, "title": remedy.title.lower()})
    return by_id


@cache
def _document() -> dict[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def _experiment(id: str, entry: Mapping[str, object]) -> Experiment:
    remedy = str(entry.get("remedy", ""))
    causes = entry.get("causes", {})
    assert isinstance(causes, dict)
    symptoms = entry.get("symptoms", ())
    assert isinstance(symptoms, list | tuple)
    measure, others = entry.get("measure", "gain"), str(entry.get("others", "moves"))
    return Experiment(
        id,
        str(entry["title"]),
        measure,  # type: ignore[arg-type]
        others,
        _fitting({**_treated(remedy), **causes}, others),
        remedy,
        str(entry.get("change", "")),
        frozenset(symptoms),
        bool(entry.get("alone", False)),
    )


def _fitting(words: Mapping[str, str], others: str) -> dict[str, str]:
    """A change that mostly finds nothing to change may also find nothing where it would ease."""
    return {c: "maybe" if others == "idle" and word == "eases" else word for c, word in words.items()}


def _treated(remedy: str) -> dict[str, str]:
    """What a remedy does to the causes whose pages list it."""
    return {
        cause.id: "cures" if cause.remedies[0] == remedy else "eases"
        for cause in causes().values()
        if remedy in cause.remedies
    }
