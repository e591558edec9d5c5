"""Writing recordings as the recorder does: real files by the real journal, lines by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from traindx.observe.journal import Journal

STARTED = 1731696000.0


class Tape:
    """One rank of a recording; `step` is where the training stands."""

    def __init__(self, folder: Path, rank: int = 0, started: float = STARTED) -> None:
        self.folder = folder
        self.rank = rank
        self.step = 0
        self.t = 0.0
        self._journal = Journal(folder, rank, started)

    @property
    def path(self) -> Path:
        return self.folder / f"rank-{self.rank}.jsonl"

    def line(self, **keys: Any) -> None:
        """Any line, with the present time and step where it names none."""
        assert self._journal.append((json.dumps({"t": self.t, "step": self.step, **keys}) + "\n").encode())

    def bare(self, line: Any) -> None:
        """A line without time and step, or no JSON at all."""
        text = line if isinstance(line, bytes) else json.dumps(line).encode()
        assert self._journal.append(text + b"\n")

    def rows(self, count: int, **columns: Any) -> None:
        """A block of steps from the present one on; a list has one value per step."""
        steps = [self.step + n for n in range(1, count + 1)]
        times = [round(self.t + 0.1 * n, 3) for n in range(1, count + 1)]
        self.bare({"rows": {"t": times, "step": steps, **columns}})
        self.step, self.t = steps[-1], times[-1]

    def names(self, **groups: list[str]) -> None:
        self.bare({"names": groups})

    def sample(self, **groups: Mapping[str, Any]) -> None:
        self.line(sample=groups)

    def prints(self, text: str, stream: str = "out") -> None:
        self.line(**{stream: text})

    def event(self, kind: str, text: str, **data: Any) -> None:
        self.line(event=kind, text=text, **({"data": data} if data else {}))

    def facts(self, **keys: Any) -> None:
        started = self._journal.started
        assert self._journal.facts({"version": 2, "started": started, "config": {}, "ended": None, **keys})

    def end(self, how: str = "finished", text: str = "", **keys: Any) -> None:
        """Close as the recorder does: an event, and the facts of the run."""
        self.event("ended", text or how, how=how)
        if not self.rank:
            self.facts(ended={"how": how, "text": text, "t": self.t, "step": self.step}, **keys)
        self._journal.close()
