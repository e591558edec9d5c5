"""Train the scripts of the clinic under traindx and say how right it is: `python -m clinic [NAME...]`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from . import table
from .score import Score, score
from .training import RUNS, Outcome, outcome
from .truth import Script, scripts


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    chosen = _chosen(scripts(), options.names, options.fast)
    if not chosen:
        print("no script of that name", file=sys.stderr)
        return 2
    scores = measure(
        chosen, jobs=options.jobs, again=options.again, runs=options.runs, show=not options.quiet
    )
    print("\n".join(table.lines(scores)))
    if options.json:
        Path(options.json).write_text(json.dumps([s.to_dict() for s in scores], indent=1) + "\n")
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m clinic", description=__doc__)
    parser.add_argument("names", nargs="*", help="scripts, cases, causes; default: all")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--again", action="store_true", help="train only what has no recording yet")
    parser.add_argument("--fast", action="store_true", help="only the scripts that the tests run")
    parser.add_argument("--json", metavar="OUT", help="write every score there")
    parser.add_argument("--runs", type=Path, default=RUNS, help="where recordings are kept")
    parser.add_argument("--quiet", action="store_true", help="only the table at the end")
    return parser.parse_args(arguments)


def _chosen(known: Sequence[Script], names: Sequence[str], fast: bool) -> list[Script]:
    exact = {n for script in known for n in (script.name, script.case, script.name.split("/")[0])}

    def wanted(script: Script) -> bool:
        whole = {script.name, script.case, script.name.split("/")[0], script.cause}
        return any(name in whole or (name not in exact and name in script.name) for name in names)

    return [s for s in known if (not names or wanted(s)) and (s.fast or not fast)]


def measure(
    chosen: Sequence[Script], *, jobs: int = 1, again: bool = False, runs: Path = RUNS, show: bool = False
) -> list[Score]:
    """The score of each script, in their order."""
    scores = []
    with ProcessPoolExecutor(max(1, jobs)) as pool:
        for found in pool.map(partial(_one, again=again, runs=runs), chosen):
            scores.append(score(found))
            if show:
                _show(scores[-1])
    return scores


def _one(script: Script, again: bool, runs: Path) -> Outcome:
    return outcome(script, again, runs)


def _show(one: Score) -> None:
    mark = "ok" if one.right else "3 " if one.three else "- "
    said = ", ".join(one.said) or "nothing"
    line = "" if one.line is None else "  line ok" if one.line else f"  line {one.place or '-'}"
    print(f"{mark} {one.name:44} {one.seconds:5.1f} s  {said}{line}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
