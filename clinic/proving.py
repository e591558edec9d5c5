"""How often `traindx prove` is right about changes of known effect: `python -m clinic.proving [NAME...]`.

Of pairs of scripts drawn by a seed: the healthy one in the place of the faulty one is better, the other way
round is worse, and another seed in the healthy one is no difference.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from traindx.experiment import api

from .truth import HERE

_SEED = re.compile(r"(seed\w*\s*[(=]\s*)(\d+)", re.IGNORECASE)
_EFFECTS = ("better", "worse", "no difference")


@dataclass(frozen=True)
class ProvedChange:
    """One change: its effect, the answer, and what it took."""

    name: str
    effect: str
    answer: str
    reason: str
    pairs: int
    runs: int
    seconds: float


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m clinic.proving", description=__doc__)
    parser.add_argument("names", nargs="*", help="pairs; default: drawn by --seed")
    parser.add_argument("--count", type=int, default=20, help="pairs to draw")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write every row there")
    options = parser.parse_args(arguments)
    pairs = sorted(path for path in (HERE / "pairs").iterdir() if (path / "healthy.py").exists())
    chosen = [path for path in pairs if path.name in options.names]
    if not options.names:
        chosen = random.Random(options.seed).sample(pairs, min(options.count, len(pairs)))
    rows: list[ProvedChange] = []
    for path in chosen:
        for row in proved(path):
            rows.append(row)
            print(f"{row.name:28} {row.effect:14} -> {row.answer:14} {row.pairs} pairs {row.seconds:.0f} s "
                  f"{row.reason}", flush=True)  # fmt: skip
            if options.json:
                options.json.write_text(json.dumps([asdict(one) for one in rows], indent=1))
    for effect in _EFFECTS:
        print(effect, dict(Counter(row.answer for row in rows if row.effect == effect)))
    return 0


def proved(pair: Path) -> Iterator[ProvedChange]:
    """The three changes of one pair."""
    faulty, healthy = ((pair / f"{name}.py").read_text("utf-8") for name in ("faulty", "healthy"))
    reseeded = _SEED.sub(lambda match: f"{match[1]}{int(match[2]) + 1}", healthy)
    changes = {"better": (faulty, healthy), "worse": (healthy, faulty), "no difference": (healthy, reseeded)}
    for effect, (before, after) in changes.items():
        if before == after:
            continue
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            scripts = [Path(folder) / name for name in ("train.py", "changed.py")]
            for script, text in zip(scripts, (before, after), strict=True):
                script.write_text(text, encoding="utf-8")
            for other in pair.iterdir():
                if other.is_file() and other.suffix != ".py":
                    (Path(folder) / other.name).write_bytes(other.read_bytes())
            started = time.monotonic()
            yield _row(pair.name, effect, *scripts, started)


def _row(name: str, effect: str, before: Path, after: Path, started: float) -> ProvedChange:
    try:
        result = api.prove(before, fixed=after, time_budget=240)
    except ValueError as error:
        return ProvedChange(name, effect, "could not", str(error), 0, 0, time.monotonic() - started)
    best = result.best
    seconds = time.monotonic() - started
    return ProvedChange(name, effect, best.answer, best.reason, len(best.pairs), result.cost.arms, seconds)


if __name__ == "__main__":
    sys.exit(main())
