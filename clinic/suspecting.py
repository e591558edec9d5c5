"""How often tested suspicions are answered rightly: `python -m clinic.suspecting [NAME...]`.

Of pairs of scripts drawn by a seed: the cause of the faulty script is suspected in it (true) and in the
healthy one (false), and another cause of the same symptom is suspected in the faulty one (false). The scripts
of `--folder second` and others are held out: the weights of the diagnosis were not made on them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from traindx.experiment import api
from traindx.knowledge.catalogue import causes

from .truth import HERE, Script, scripts


@dataclass(frozen=True)
class Suspected:
    """One suspicion of known truth: the answer, what decided, and what it took."""

    name: str
    cause: str
    true: bool
    answer: str
    decided_by: str
    because: str
    experiments: int
    seconds: float

    @property
    def verdict(self) -> str:
        if self.answer == "not testable":
            return self.answer
        return "right" if (self.answer == "confirmed") == self.true else "WRONG"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m clinic.suspecting", description=__doc__)
    parser.add_argument("names", nargs="*", help="pairs; default: drawn by --seed")
    parser.add_argument("--count", type=int, default=12, help="pairs to draw")
    parser.add_argument("--folder", default="pairs", help="of the clinic; those besides pairs are held out")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=float, default=120.0, help="seconds for each script")
    parser.add_argument("--json", type=Path, help="write every row there")
    options = parser.parse_args(arguments)
    able = {one.name: one for one in scripts() if not one.launch and _folder(one) == options.folder}
    if options.folder == "pairs":
        able = {one.case: one for one in able.values() if not one.healthy}
    chosen = [name for name in able if name in options.names]
    if not options.names:
        chosen = random.Random(options.seed).sample(sorted(able), min(options.count, len(able)))
    rows: list[Suspected] = []
    for name in chosen:
        for row in suspected(able[name], options.seed, options.budget):
            rows.append(row)
            print(f"{row.verdict:12} {row.name:34} {row.cause:22} {row.true!s:5} -> {row.answer:12} "
                  f"{row.decided_by:10} {row.seconds:.0f} s  {row.because[:150]}", flush=True)  # fmt: skip
            if options.json:
                options.json.write_text(json.dumps([asdict(one) for one in rows], indent=1))
    for true in (True, False):
        print("true" if true else "false", dict(Counter(row.verdict for row in rows if row.true is true)))
    return 0


def suspected(script: Script, seed: int, budget: float) -> Iterator[Suspected]:
    """The true and the false suspicion of the faulty script, and the false one of a healthy script."""
    rivals = [one.id for one in causes().values() if script.symptom in one.symptoms]
    false = sorted({*rivals} - script.right) or sorted({*causes()} - script.right)
    other = random.Random(f"{seed} {script.name}").choice(false)
    if script.healthy:
        yield from _answers(script.path, {other: False}, budget)
        return
    yield from _answers(script.path, {script.cause: True, other: False}, budget)
    if script.path.with_name("healthy.py").exists():
        yield from _answers(script.path.with_name("healthy.py"), {script.cause: False}, budget)


def _folder(script: Script) -> str:
    """The folder of the clinic that a script is in."""
    return script.path.relative_to(HERE).parts[0]


def _answers(path: Path, suspicions: dict[str, bool], budget: float) -> Iterator[Suspected]:
    name = f"{path.parent.name}/{path.stem}"
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for other in path.parent.iterdir():
            if other.is_file() and other.suffix != ".py":
                (Path(folder) / other.name).write_bytes(other.read_bytes())
        Path("train.py").write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
        began = time.monotonic()
        try:
            result = api.confirm("train.py", suspects=list(suspicions), time_budget=budget)
        except ValueError as error:
            for cause, true in suspicions.items():
                yield Suspected(
                    name, cause, true, "could not", "nothing", str(error), 0, time.monotonic() - began
                )
            return
    for one in result.suspicions:
        cause = one.suspicion.cause
        yield Suspected(
            name, cause, suspicions[cause], one.answer, one.by, one.because, len(one.experiments), one.seconds
        )


if __name__ == "__main__":
    sys.exit(main())
