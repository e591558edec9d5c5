"""Treat the faulty scripts of the pairs and say how many are mended: `python -m clinic.treat [NAME...]`.

Restored is a script whose treated version closes 80 % or more of the gap to its healthy twin. Beside it the
control: as many steps spent on remedies drawn at random.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from traindx.core.nouns import Diagnosis, Run
from traindx.experiment.arms import Workshop
from traindx.experiment.measure import Yardstick, read_level
from traindx.experiment.treat.candidates import Candidate, CauseCandidates, changes_of
from traindx.experiment.treat.request import TreatRequest
from traindx.experiment.treat.treatment import Treatment
from traindx.knowledge.catalogue import remedies
from traindx.observe.program import find_script
from traindx.source import read_script

from .training import RUNS, outcome
from .truth import Script, scripts

RESTORED = 0.8
_NO_GAP = 0.03
_LIMIT_S = 900.0
_SLOW = ("input_bound", "sync_bound", "small_batch_overhead", "straggler_rank")
# Nothing in the source or the settings can mend these: they ask for other data, or a decision.
BEYOND = {
    "crowd_labels": "the labels themselves are wrong",
    "molecule_property": "more data are needed",
    "loan_table": "which column leaks only its owner knows",
    "parallel_regressor": "several processes: trials run one",
    "two_workers": "several processes: trials run one",
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m clinic.treat", description=__doc__)
    parser.add_argument("names", nargs="*", help="cases or causes; default: all pairs")
    parser.add_argument("--jobs", type=int, default=1, help="scripts side by side")
    parser.add_argument("--control", action="store_true", help="also spend the same on random remedies")
    parser.add_argument("--healthy", action="store_true", help="treat the healthy scripts instead")
    parser.add_argument(
        "--json", type=Path, help="write every row there, and begin with those that are there"
    )
    parser.add_argument("--runs", type=Path, default=RUNS, help="where recordings are kept")
    options = parser.parse_args(arguments)
    known = {script.name: script for script in scripts()}
    rows: dict[str, dict[str, Any]] = {}
    if options.json and options.json.exists():
        rows = {row["case"]: row for row in json.loads(options.json.read_text())}
    pairs = _healthy(known) if options.healthy else _pairs(known)
    wanted = set(options.names)
    chosen = {
        case: pair
        for case, pair in pairs.items()
        if not wanted or wanted & {case, case.split("/")[0], pair[0].cause}
    }
    left = [pair for case, pair in chosen.items() if case not in rows]
    work = partial(_case, control=options.control, healthy=options.healthy, runs=options.runs)
    with ProcessPoolExecutor(options.jobs) as pool:
        for row in pool.map(work, left):
            rows[row["case"]] = row
            print(_line(row), flush=True)
            if options.json:
                options.json.write_text(json.dumps(list(rows.values()), indent=1) + "\n")
    print("\n".join(_table([rows[case] for case in chosen if case in rows], healthy=options.healthy)))
    return 0


def _pairs(known: Mapping[str, Script]) -> dict[str, tuple[Script, Script]]:
    """Each faulty script with its healthy twin."""
    cases = sorted(script.case for name, script in known.items() if name.endswith("/faulty"))
    return {case: (known[f"{case}/faulty"], known[f"{case}/healthy"]) for case in cases}


def _healthy(known: Mapping[str, Script]) -> dict[str, tuple[Script, Script]]:
    """Every healthy script: twins and lookalikes."""
    return {name: (script, script) for name, script in known.items() if script.healthy}


def _case(pair: tuple[Script, Script], control: bool, healthy: bool, runs: Path) -> dict[str, Any]:
    faulty, twin = pair
    case = faulty.name if healthy else faulty.case
    row: dict[str, Any] = {"case": case, "cause": faulty.cause}
    try:
        if healthy:
            return row | treated(twin)
        reference = _recorded(twin, runs)
        row |= treated(faulty, reference)
        if control:
            told = treated(faulty, reference, drawn=Draw(row["case"], row["trial_steps"]))
            row |= {f"control_{key}": told[key] for key in ("status", "closed", "restored", "trainings")}
    except Exception as error:  # one that fails must not hide the others
        row |= {
            "status": "failed",
            "said": f"{type(error).__name__}: {error}",
            "closed": None,
            "restored": False,
        }
    return row


def _recorded(script: Script, runs: Path) -> Run | None:
    from traindx.engine import read

    outcome(script, True, runs)
    found = read(runs / script.name / "recording").runs
    return found[-1] if found else None


class Draw:
    """A plan that knows nothing: remedies in any order, for as many steps as the treatment took."""

    def __init__(self, seed: str, steps: int) -> None:
        self._random = random.Random(seed)
        self.steps = steps

    def __call__(self, diagnosis: Diagnosis, script: Any) -> Sequence[CauseCandidates]:
        del script
        texts = {text for remedy in remedies().values() for text in remedy.trials if "{" not in text}
        length = diagnosis.run.last_step or 0.0
        texts |= {f"warm_up steps={max(10, int(0.05 * length))}"}
        of = {text: remedy.id for remedy in remedies().values() for text in remedy.trials}
        drawn = sorted(texts)
        self._random.shuffle(drawn)
        symptom = diagnosis.problems[0].symptom
        candidates = [Candidate(of.get(t, "add_warmup"), "", 0.0, changes_of(t)) for t in drawn]
        return [CauseCandidates(f"drawn {n}", 0.0, symptom, (one,)) for n, one in enumerate(candidates)]


def treated(script: Script, twin: Run | None = None, drawn: Draw | None = None) -> dict[str, Any]:
    """Treat a script as `traindx treat` does and measure the result against its twin."""
    program = find_script(str(script.path.resolve()), ())
    here, began = os.getcwd(), time.monotonic()
    os.chdir(script.path.parent)
    try:
        with Workshop(program, jobs=1, time_budget=_LIMIT_S) as shop:
            wishes = TreatRequest(trial_steps=drawn.steps if drawn is not None else None)
            treatment = Treatment(shop, read_script(program.path or ""), (), wishes, _silent, drawn)
            result = treatment.run()
    finally:
        os.chdir(here)
    row: dict[str, Any] = {
        "status": result.status,
        "said": result.summary,
        "trainings": round(result.cost.trainings, 2),
        "trainings_seconds": round(result.cost.trainings_seconds, 2),
        "trial_steps": result.trial_steps,
        "wall": round(time.monotonic() - began, 1),
        "changes": [one.winner.candidate.name for one in result.rounds if one.winner],
        "edits": [one.edited.text for one in result.rounds if one.edited],
        "instructions": [one.instruction.text for one in result.rounds if one.instruction],
        "tried": [
            f"{t.candidate.name}: {t.verdict.text if t.verdict else t.reason}"
            for o in result.rounds
            for t in o.trials
        ],
        "diagnosed": result.before.problems[0].hypotheses[0].cause
        if result.before and result.before.problems
        else "",
    }
    if twin is None or not result.baseline or result.baseline[0].run is None:
        return row | {"closed": None, "restored": False}
    after = next((o.run for o in result.after if o.run is not None), None)
    by, closed = closed_gap(script, result.baseline[0].run, after, twin)
    proven = result.proven
    if closed is None and proven and result.final is not None:
        # No gap between the twins in what is measured: the defect itself must be gone.
        named = {problem.hypotheses[0].cause for problem in result.final.problems}
        by, closed = "the cause is gone", float(not named & script.right)
    return row | {
        "metric": by,
        "closed": None if closed is None else round(closed, 3),
        "restored": closed is not None and closed >= RESTORED and (proven or result.status == "instructed"),
        "edited": proven,
        "harmful": proven and closed is not None and closed < -0.05,
    }


def closed_gap(script: Script, before: Run, after: Run | None, twin: Run) -> tuple[str, float | None]:
    """The share of the way from the faulty run to the healthy one that the treated run has gone."""
    by = _measure(script, before, twin)
    if by is None or after is None:
        return "", None
    if by.name in ("step_s", "rss_bytes"):
        spent = _seconds if by.name == "step_s" else _grown
        first, last, goal = (spent(run) for run in (before, after, twin))
        return by.name, (first - last) / (first - goal) if first > goal else None
    levels = [read_level(run, by) for run in (before, after, twin)]
    if any(level is None for level in levels):
        return by.name, None
    first, last, goal = (level.value for level in levels if level is not None)
    if not math.isfinite(first):
        first = float(twin.series[by.name].values[0])
    if abs(first - goal) <= _NO_GAP * max(abs(first), abs(goal)):
        return by.name, None
    if not math.isfinite(last):
        return by.name, -1.0
    return by.name, (first - last) / (first - goal)


def _seconds(run: Run) -> float:
    """What the steps of the whole training took."""
    series = run.series["step_s"]
    return float(median(series.values)) * float(run.last_step or 0.0)


def _grown(run: Run) -> float:
    """How much memory the training took beyond its start."""
    values = run.series["rss_bytes"].values
    return float(values[-1] - values[0])


def _measure(script: Script, before: Run, twin: Run) -> Yardstick | None:
    if script.cause in _SLOW and "step_s" in before.series and "step_s" in twin.series:
        return Yardstick("step_s")
    both = [name for name in before.series if name in twin.series]
    if script.cause == "memory_bound" and "rss_bytes" in both:
        return Yardstick("rss_bytes")
    scores = [name for name in both if name.startswith("val/") and twin.series[name].goal == "higher"]
    same = _loss(before) == _loss(twin)
    if scores and not same:
        return Yardstick(scores[0], higher=True)
    if "val/loss" in both:
        return Yardstick("val/loss")
    if scores:
        return Yardstick(scores[0], higher=True)
    return Yardstick("loss") if "loss" in both else None


def _loss(run: Run) -> object:
    losses = run.facts.get("losses")
    return losses[0].get("function") if isinstance(losses, list) and losses else None


def _silent(kind: str, told: Mapping[str, Any]) -> None:
    del kind, told


def _line(row: Mapping[str, Any]) -> str:
    mark = "ok" if row.get("restored") else "- "
    closed = row.get("closed")
    share = f"{closed:7.0%}" if closed is not None else "      ?"
    control = f"  control {row['control_closed']}" if row.get("control_closed") is not None else ""
    told = "; ".join(row.get("edits") or row.get("instructions") or [str(row.get("said", ""))])
    return (
        f"{mark} {row['case']:<22} {row['cause']:<22} {row.get('status', ''):<12} {share} "
        f"{row.get('trainings', 0):5.1f}x {row.get('wall', 0):6.1f} s{control}  {told[:150]}"
    )


def _table(rows: Sequence[Mapping[str, Any]], *, healthy: bool) -> list[str]:
    if healthy:
        changed = [row["case"] for row in rows if row.get("status") not in ("healthy", "unclear")]
        told = f": all but {', '.join(changed)}" if changed else ""
        return [f"healthy scripts left alone: {len(rows) - len(changed)} of {len(rows)}{told}"]
    able = [row for row in rows if row["case"] not in BEYOND]
    restored = [row for row in able if row.get("restored")]
    edited = [row for row in restored if row.get("edited")]
    harmful = [row["case"] for row in rows if row.get("harmful")]
    costs = [row["trainings"] for row in able if "trainings" in row]
    lines = [
        "",
        f"restored            {len(restored)} of {len(able)} ({len(restored) / max(1, len(able)):.0%})",
        f"  by a proven edit  {len(edited)}",
        f"harmful edits       {len(harmful)} {', '.join(harmful)}",
        f"cost, median        {median(costs) if costs else 0:.2f} trainings (steps)",
    ]
    seconds = [row["trainings_seconds"] for row in able if "trainings_seconds" in row]
    if seconds:
        lines.append(f"                    {median(seconds):.2f} trainings (seconds, with start-up)")
    drawn = [row for row in able if "control_restored" in row]
    if drawn:
        mended = sum(bool(row["control_restored"]) for row in drawn)
        lines.append(f"random remedies     {mended} of {len(drawn)} restored")
    return [*lines, "not restored: " + ", ".join(row["case"] for row in able if not row.get("restored"))]


if __name__ == "__main__":
    sys.exit(main())
