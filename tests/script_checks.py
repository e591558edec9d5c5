"""What a script did plainly and recorded, side by side, and what must agree."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from difflib import unified_diff
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import traindx
from traindx.core.nouns import Run

NUMBER = r"(-?[\d.]+(?:e[-+]\d+)?)"
_EVENT_FILE = re.compile(r"tfevents\..*")


@dataclass(frozen=True)
class Outcome:
    """What one run left."""

    folder: Path
    code: int
    out: str
    err: str

    @cached_property
    def result(self) -> list[str]:
        """Hashes of weights and random states, of each process."""
        told = [self.out, *[path.read_text() for path in sorted(self.folder.glob("rank*.txt"))]]
        return [line for text in told for line in text.splitlines() if line.startswith("RESULT")]

    @property
    def files(self) -> list[str]:
        paths = (path.relative_to(self.folder) for path in self.folder.rglob("*") if path.is_file())
        kept = [path for path in paths if not {".traindx", "__pycache__"} & set(path.parts)]
        return sorted(_EVENT_FILE.sub("tfevents", str(path)) for path in kept)


@dataclass(frozen=True)
class Both:
    """The plain and the recorded run of a script."""

    plain: Outcome
    recorded: Outcome

    @cached_property
    def recording(self) -> Path:
        """The folder of the only recording."""
        (folder,) = {path.parent for path in (self.recorded.folder / ".traindx").glob("*/rank-0.jsonl")}
        return folder

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What `run.json` says."""
        facts: dict[str, Any] = json.loads((self.recording / "run.json").read_text("utf-8"))
        return facts

    @cached_property
    def lines(self) -> list[dict[str, Any]]:
        """The lines of the first process as they are."""
        text = (self.recording / "rank-0.jsonl").read_text("utf-8")
        return [json.loads(line) for line in text.splitlines()]

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        return traindx.read(self.recording).runs

    @cached_property
    def run(self) -> Run:
        (run,) = self.runs
        return run

    def events(self, kind: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line.get("event") == kind]

    def series(self, name: str) -> dict[int, float]:
        """Step -> the last value there."""
        assert name in self.run.series, f"no {name} among {sorted(self.run.series)}"
        return dict(self.rows(name))

    def rows(self, name: str) -> list[tuple[int, float]]:
        """All points of a series; skipped steps have the number of the last one done."""
        series = self.runs[0].series.get(name)
        if series is None:
            return []
        return list(zip(series.steps.astype(int).tolist(), series.values.tolist(), strict=True))

    def printed(self, pattern: str, *, file: str = "") -> list[tuple[float, ...]]:
        """The numbers that the script printed itself."""
        text = (self.plain.folder / file).read_text() if file else self.plain.out
        found = [tuple(float(group) for group in match.groups()) for match in re.finditer(pattern, text)]
        assert found, f"the script printed nothing like {pattern}"
        return found


def unchanged(both: Both) -> Both:
    """Recording changes nothing that the user, the shell or the next program could see."""
    plain, recorded = both.plain, both.recorded
    for stream in ("err", "out"):
        texts = [getattr(outcome, stream).splitlines() for outcome in (plain, recorded)]
        differs = list(unified_diff(*texts, "plain", "recorded", n=1, lineterm=""))
        assert not differs, "\n".join([f"std{stream} differs:", *differs[:40]])
    assert recorded.code == plain.code, (recorded.code, plain.code)
    assert recorded.result == plain.result
    assert recorded.files == plain.files, set(recorded.files) ^ set(plain.files)
    return both


def check_printed(both: Both, name: str, pattern: str, *, per: float = 1, digits: int = 6) -> None:
    """A recorded series has what the script printed; `per` steps go to one of the script's counts."""
    series = both.series(name)
    steps, values = zip(*both.printed(pattern), strict=True)
    found = [series.get(round(step * per), np.inf) for step in steps]
    np.testing.assert_allclose(found, values, rtol=2e-6, atol=0.6 * 10**-digits, err_msg=name)


def seen(both: Both, steps: int, *, how: str = "finished", optimizers: int | None = 1) -> None:
    """So many steps, each with its row, and no probe that broke."""
    assert both.facts["ended"]["how"] == how
    assert both.facts["ended"]["step"] == steps
    assert [step for step, _ in both.rows("lr")] == list(range(1, steps + 1))
    assert not both.events("probe_failed")
    if optimizers is not None:
        assert len(both.facts["optimizers"]) == optimizers


def step_loss(both: Both) -> None:
    """The script prints `step 12 ... loss 0.5` here and there."""
    check_printed(both, "loss", rf"(?m)^.*?step[ =](\d+):? .*?loss[ =]{NUMBER}")
