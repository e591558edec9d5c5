"""What `run.json` holds: facts and settings of a run, and what could not be recorded of it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from traindx.observe.clock import perf_counter
from traindx.observe.journal import VERSION, Journal

_WRITE_EVERY = 5.0


class FactsFile:
    """Facts as they become known; the file is rewritten from time to time while they change."""

    def __init__(self, name: str, started: float) -> None:
        self._facts: dict[str, object] = {
            "version": VERSION,
            "name": name,
            "started": round(started, 3),
            "config": {},
            "ended": None,
        }
        self._unseen: dict[str, str] = {}
        self._facts_changed = True
        self._facts_written = -math.inf

    def setting(self, name: str, value: object) -> None:
        config = self._facts["config"]
        if isinstance(config, dict) and config.get(name, self) != value:
            config[name] = value
            self._facts_changed = True

    def fact(self, key: str, value: object) -> None:
        if self._facts.get(key, self) != value:
            self._facts[key] = value
            self._facts_changed = True

    def take(self, facts: Iterable[str], settings: Iterable[str]) -> dict[str, object]:
        """The facts and settings of a training that ended; they are no longer those of the run."""
        config = self._facts["config"]
        assert isinstance(config, dict)
        training_facts = {key: self._facts.pop(key) for key in facts if key in self._facts}
        training_facts["config"] = {name: config.pop(name) for name in settings if name in config}
        self._facts_changed = True
        return training_facts

    def unseen(self, subject: str, why: str) -> None:
        """Something that cannot be recorded of this training, and why: it must not be mistaken for health."""
        if subject not in self._unseen:
            self._unseen[subject] = why
            self.fact("unseen", [{"what": subject, "why": why} for subject, why in self._unseen.items()])

    def _write_facts(self, journal: Journal) -> None:
        now = perf_counter()
        if self._facts_changed and now - self._facts_written >= _WRITE_EVERY:
            self._facts_written = now
            self._facts_changed = not journal.facts(self._facts)
