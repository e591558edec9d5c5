"""How much experiments add to diagnoses of scripts with known truth: `python -m clinic.confirming [NAME...]`.

Each faulty script that was recorded (`python -m clinic`) is confirmed: beginning with its recording; with
what it printed and its source (`--evidence log`); or with what it printed and experiments alone, without its
source and without a diagnosis of the untouched run (`--evidence blind`).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from traindx.core.nouns import Problem, Unreadable
from traindx.engine import last_run
from traindx.experiment.arm_diagnosis import examined
from traindx.experiment.arms import Workshop
from traindx.experiment.confirm.confirm import Confirmation, Confirmed, ConfirmRequest, first_problem
from traindx.observe.program import find_script
from traindx.source import read_script

from .training import RUNS
from .truth import Script, scripts

_UNSURE = 0.8


@dataclass(frozen=True)
class Measured:
    """One script: the cause that led before and after, and what was believed of the true one."""

    name: str
    cause: str
    before: str
    after: str
    right_before: bool
    right_after: bool
    share_before: float
    share_after: float
    first_share: float
    experiments: tuple[str, ...]
    seconds: float
    stopped: str

    @property
    def held_out(self) -> bool:
        return self.name.startswith(("second/", "third/", "fourth/", "fifth/"))


def measured(script: Script, evidence: str, runs: Path, budget: float) -> Measured | None:
    """None where the evidence shows no problem: there is nothing to confirm."""
    folder = (runs / script.name).resolve()
    path = folder / ("recording" if evidence == "recording" else "output.txt")
    try:
        run = last_run(path)
    except (ValueError, Unreadable):
        return None
    source = None if evidence == "blind" else read_script(script.path)
    diagnosis = examined(run, source, every_cause=True)
    problem = first_problem(diagnosis)
    if problem is None:
        return None
    wishes = ConfirmRequest(time_budget=budget, observe=evidence != "blind")
    program = find_script(str(script.path.resolve()), ())
    began = time.monotonic()
    with Workshop(program, jobs=1, time_budget=budget, folder=folder / "work") as shop:
        found = Confirmation(shop, diagnosis, wishes, _silent, source).run()
    return _compared(script, problem, found, time.monotonic() - began)


def _silent(*told: object) -> None:
    del told


def _compared(script: Script, problem: Problem, found: Confirmed, seconds: float) -> Measured:
    assert found.problem is not None
    first, last = problem.hypotheses[0], found.problem.hypotheses[0]
    made = [one.choice.plans for one in found.tried]
    return Measured(
        script.name,
        script.cause,
        first.cause,
        last.cause,
        first.cause in script.right,
        last.cause in script.right,
        _share(problem, script),
        _share(found.problem, script),
        first.confidence,
        tuple(plans[0].experiment.id if len(plans) == 1 else "check_up" for plans in made),
        round(seconds, 1),
        found.stopped,
    )


def _share(problem: Problem, script: Script) -> float:
    return round(sum(one.confidence for one in problem.hypotheses if one.cause in script.right), 3)


def row(name: str, some: Sequence[Measured]) -> str:
    """One line of the table."""
    count = max(1, len(some))
    lost = sum(one.right_before and not one.right_after for one in some)
    cells = [
        name,
        len(some),
        f"{sum(one.right_before for one in some)} ({sum(one.right_before for one in some) / count:.0%})",
        f"{sum(one.right_after for one in some)} ({sum(one.right_after for one in some) / count:.0%})",
        lost,
        f"{sum(one.share_before for one in some) / count:.0%}",
        f"{sum(one.share_after for one in some) / count:.0%}",
        f"{sum(len(one.experiments) for one in some) / count:.1f}",
        f"{sum(one.seconds for one in some) / count:.0f}",
    ]
    return f"| {' | '.join(map(str, cells))} |"


def table(found: Sequence[Measured]) -> list[str]:
    """All of them and those that were unsure, fitted and held out."""
    lines = [
        "| scripts | n | right before | right after | right to wrong "
        "| share of the true cause before | after | experiments | seconds |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, some in (
        ("pairs", [one for one in found if not one.held_out]),
        ("second, third, fourth (held out)", [one for one in found if one.held_out]),
    ):
        unsure = [one for one in some if one.first_share < _UNSURE or not one.right_before]
        lines += [row(name, some), row(f"{name}: wrong or below {_UNSURE:.0%}", unsure)] if some else []
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m clinic.confirming", description=__doc__)
    parser.add_argument("names", nargs="*", help="scripts, or parts of their names; default: all")
    parser.add_argument("--evidence", choices=("recording", "log", "blind"), default="recording")
    parser.add_argument("--runs", type=Path, default=RUNS, help="where recordings are kept")
    parser.add_argument("--budget", type=float, default=120.0, help="seconds for each script")
    parser.add_argument("--json", metavar="OUT", help="write every result there")
    options = parser.parse_args(arguments)
    found = []
    for script in scripts():
        wanted = not options.names or any(name in script.name for name in options.names)
        if script.healthy or script.launch or not wanted:
            continue
        one = measured(script, options.evidence, options.runs, options.budget)
        if one is not None:
            found.append(one)
            marks = "".join("R" if right else "-" for right in (one.right_before, one.right_after))
            print(
                f"{marks} {one.name}: {one.before} -> {one.after}, {one.stopped}", file=sys.stderr, flush=True
            )
    print("\n".join(table(found)))
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
