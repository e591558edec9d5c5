"""Diagnose the kept recordings anew and say what changed: `python -m clinic.rescore [NAME...]`.

Each training is diagnosed by what it printed, by its recording, and by its recording with its source. The
results are held against `score.json` of the last commit, or of `--base`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from .corpus import unpack
from .score import GRAVE, score
from .training import Outcome
from .truth import HERE, Script, scripts

Level = Literal["printed", "recording", "source"]
LEVELS: tuple[Level, ...] = ("printed", "recording", "source")
KEPT = HERE / "score.json"
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
Results = dict[str, dict[str, "Result"]]


@dataclass(frozen=True)
class Result:
    """One training at one level of evidence."""

    verdict: str
    severity: str
    causes: tuple[str, ...]
    confidence: float
    line: bool | None
    first: bool
    three: bool
    noticed: bool

    def __str__(self) -> str:
        causes = ", ".join(self.causes) or "no cause"
        return f"{self.verdict} {self.severity}".strip() + f": {causes} ({self.confidence:.0%})"


def diagnosed(name: str, folder: Path, levels: Sequence[Level] = LEVELS) -> tuple[str, dict[str, Result]]:
    """A training by name, its recording below `folder`."""
    script = next(one for one in scripts() if one.name == name)
    return name, {level: _result(script, folder / name, level) for level in levels}


def _result(script: Script, recording: Path, level: Level) -> Result:
    from traindx.engine import diagnose, read
    from traindx.evidence.phase import worst_first

    source = recording
    if level == "printed":
        source = recording.with_name(f"{recording.name}-printed.log")
        source.write_text(_printed(recording), encoding="utf-8")
    elif level == "recording":
        source = _without_source(recording)
    found = worst_first([diagnose(run) for run in read(source).runs])
    one = score(Outcome(script, tuple(each.to_dict() for each in found), 0.0))
    problems = found[0].problems if found else ()
    first = problems[0].hypotheses[0] if problems and problems[0].hypotheses else None
    return Result(
        verdict=found[0].verdict if found else "insufficient_evidence",
        severity=problems[0].severity if problems else "",
        causes=one.said,
        confidence=round(first.confidence, 3) if first is not None else 0.0,
        line=one.line if level == "source" else None,
        first=one.first,
        three=one.three,
        noticed=any(p.severity in GRAVE for each in found for p in each.problems),
    )


def _printed(recording: Path) -> str:
    """What the script printed, as a log of it would hold."""
    text = []
    for line in (recording / "rank-0.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text.append(row.get("out") or row.get("err") or "")
    return "".join(text)


def _without_source(recording: Path) -> Path:
    """The same recording, of a script that is not at hand."""
    there = recording.with_name(f"{recording.name}-alone")
    there.mkdir(exist_ok=True)
    for path in recording.glob("rank-*.jsonl"):
        (there / path.name).write_bytes(path.read_bytes())
    facts: dict[str, Any] = json.loads((recording / "run.json").read_text(encoding="utf-8"))
    facts.pop("script", None)
    (there / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    return there


def measure(names: Iterable[str], folder: Path, jobs: int = 2, levels: Sequence[Level] = LEVELS) -> Results:
    """All of them, `jobs` at a time."""
    with ProcessPoolExecutor(jobs) as pool:
        return dict(pool.map(partial(diagnosed, folder=folder, levels=levels), names, chunksize=4))


def kept(base: str | None = None) -> Results:
    """The results of a commit; of the working tree without one."""
    if base is None:
        text = KEPT.read_text(encoding="utf-8") if KEPT.exists() else "{}"
    else:
        words = ["git", "show", f"{base}:clinic/{KEPT.name}"]
        done = subprocess.run(words, cwd=HERE, capture_output=True, text=True, check=False)
        text = done.stdout or "{}"
    return {
        name: {level: Result(**{**told, "causes": tuple(told["causes"])}) for level, told in levels.items()}
        for name, levels in json.loads(text).items()
    }


def counts(results: Results, level: str) -> dict[str, tuple[int, int]]:
    """By what is counted: how many, and of how many."""
    truth = {script.name: script for script in scripts()}
    faulty = [r[level] for name, r in results.items() if level in r and not truth[name].healthy]
    healthy = [r[level] for name, r in results.items() if level in r and truth[name].healthy]
    asked = [one.line for one in faulty if one.line is not None]
    return {
        "trouble noticed": (sum(one.noticed for one in faulty), len(faulty)),
        "right cause first": (sum(one.first for one in faulty), len(faulty)),
        "right cause in three": (sum(one.three for one in faulty), len(faulty)),
        "right line": (sum(asked), len(asked)),
        "healthy called ill": (sum(one.noticed for one in healthy), len(healthy)),
    }


def lines(results: Results, before: Results) -> list[str]:
    """The table, confidence against frequency, and every diagnosis that changed."""
    before = {name: before[name] for name in results if name in before}
    told = []
    for level in LEVELS:
        now, then = counts(results, level), counts(before, level)
        told.append(f"{level}:")
        for what, (count, of) in now.items():
            was = f"   was {then[what][0]} of {then[what][1]}" if then[what] != (count, of) else ""
            told.append(f"  {what:22}{count:4} of {of:<4}{count / of if of else 0:7.1%}{was}")
        told += _confidence([r[level] for r in results.values() if level in r])
    changed = [
        f"  {name} [{level}]: {before[name][level]}  ->  {result}"
        for name, levels in results.items()
        for level, result in levels.items()
        if name in before and level in before[name] and before[name][level] != result
    ]
    return [*told, "", f"{len(changed)} diagnoses changed" + (":" if changed else ""), *changed]


def _confidence(results: Sequence[Result]) -> list[str]:
    """How often the first cause of a problem that was given so much confidence is right."""
    told = []
    for low, high in pairwise(BINS):
        some = [r for r in results if r.noticed and low <= r.confidence < (high if high < 1 else 2)]
        if some:
            told.append(f"    given {low:.0%}-{high:.0%}: right {sum(r.first for r in some)} of {len(some)}")
    return told


def save(results: Results) -> None:
    """The results beside the scripts, one line a training."""
    rows = [
        f"{json.dumps(name)}: {json.dumps({level: asdict(one) for level, one in found.items()})}"
        for name, found in sorted(results.items())
    ]
    KEPT.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m clinic.rescore", description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of names; default: all")
    parser.add_argument("--jobs", type=int, default=2, help="processes side by side")
    parser.add_argument("--base", default="HEAD", help="the commit to compare with")
    parser.add_argument("--save", action="store_true", help=f"keep the results in {KEPT.name}")
    options = parser.parse_args(arguments)
    chosen = {s.name for s in scripts() if not options.names or any(n in s.name for n in options.names)}
    with tempfile.TemporaryDirectory() as folder:
        results = measure(unpack(Path(folder), chosen), Path(folder), options.jobs)
    print("\n".join(lines(results, kept(options.base))))
    if options.save:
        save(results if not options.names else kept() | results)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
