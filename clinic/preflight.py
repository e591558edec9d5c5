"""Let preflight look at the clinic's scripts, and count failures: `python -m clinic.preflight [NAME...]`.

Each answer is kept as a file, so that a run that was cut short goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .truth import HERE, Script, scripts

RESULTS = HERE / "runs" / "preflight"
Told = Mapping[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m clinic.preflight", description=__doc__)
    parser.add_argument("names", nargs="*", help="words in the names of scripts; default: all")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where answers are kept")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--time-budget", type=float, default=300.0, metavar="SECONDS")
    parser.add_argument("--count", action="store_true", help="only count what is kept")
    options = parser.parse_args(arguments)
    chosen = [one for one in scripts() if not options.names or any(n in one.name for n in options.names)]
    found: dict[Script, Told] = {}
    for script in chosen:
        path = options.results / f"{script.name.replace('/', '-')}.json"
        if not path.exists() and not options.count:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(look(script, options.steps, options.time_budget), indent=1))
        if path.exists():
            found[script] = json.loads(path.read_text())
            if not options.count:
                print(script.name, failures(found[script]), flush=True)
    print("\n".join(lines(found)))
    return 0


def look(script: Script, steps: int, budget: float) -> Told:
    """The checklist of a script as plain data, or why it could not be run."""
    from traindx.experiment.arms import Workshop
    from traindx.experiment.preflight.preflight import Unflown, fly
    from traindx.observe.program import find_script
    from traindx.source import read_script

    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            program = find_script(str(script.path), ())
            with Workshop(program, time_budget=budget) as shop:
                source = read_script(script.path)
                return fly(shop, script=source, steps=steps, time_budget=budget).to_dict()
        except Unflown as error:
            return {"unflown": str(error)}
        finally:
            os.chdir(here)


def failures(told: Told) -> list[str]:
    return [one["id"] for one in told.get("checks", ()) if one["status"] == "fail"]


def lines(found: Mapping[Script, Told]) -> Iterator[str]:
    """How many scripts of each kind fail anything, by check, and which faulty script fails which."""
    flown = {script: told for script, told in found.items() if "checks" in told}
    kinds = {True: "healthy", False: "faulty"}
    groups = {kind: [t for s, t in flown.items() if s.healthy is healthy] for healthy, kind in kinds.items()}
    for kind, group in groups.items():
        bad = sum(bool(failures(one)) for one in group)
        yield f"{kind}: {bad} of {len(group)} fail a check"
    yield from _by_check(groups)
    yield ""
    yield "| script | cause | fails |"
    yield "| --- | --- | --- |"
    for script, told in flown.items():
        if failures(told) or not script.healthy:
            listed = ", ".join(f"`{name}`" for name in failures(told))
            yield f"| {script.name.removesuffix('/faulty')} | `{script.cause}` | {listed or 'nothing'} |"
    for script, told in found.items():
        if script not in flown:
            yield f"not run: {script.name}: {told.get('unflown')}"


def _by_check(groups: Mapping[str, Sequence[Told]]) -> Iterator[str]:
    yield ""
    yield "| check | " + " | ".join(f"{kind}: fail | could not tell" for kind in groups) + " |"
    yield "| --- |" + " ---: | ---: |" * len(groups)
    counts = {
        kind: Counter((one["id"], one["status"]) for told in group for one in told["checks"])
        for kind, group in groups.items()
    }
    ids = list(
        dict.fromkeys(one["id"] for group in groups.values() for told in group for one in told["checks"])
    )
    for id in ids:
        cells = [f"{counts[kind][id, 'fail']} | {counts[kind][id, 'unknown']}" for kind in groups]
        yield f"| `{id}` | {' | '.join(cells)} |"


if __name__ == "__main__":
    raise SystemExit(main())
