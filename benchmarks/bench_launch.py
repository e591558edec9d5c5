"""How much later a script starts under `traindx run` than under `python`, and how much later it ends.

On an empty script, which also has no training to record, and on one that imports torch. Fresh processes
taking turns; medians.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from bench_inspect import seconds

SCRIPTS = {"empty script": "", "import torch": "import torch\n"}
# What a user does not notice in front of a training.
MOST = 1.0


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeat", type=int, default=5)
    repeat = options.parse_args().repeat
    worst = 0.0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, text in SCRIPTS.items():
            script = folder / "script.py"
            script.write_text(text, encoding="utf-8")
            plain = [sys.executable, str(script)]
            recorded = [sys.executable, "-m", "traindx", "run", "--quiet", str(script)]
            taken: dict[str, list[float]] = {"plain": [], "recorded": []}
            for _ in range(repeat + 1):
                taken["plain"].append(seconds(plain, folder)[0])
                taken["recorded"].append(seconds(recorded, folder)[0])
            before, after = (statistics.median(times[1:]) for times in taken.values())
            worst = max(worst, after - before)
            print(
                f"{name}: {before:.2f} s with python, {after:.2f} s with traindx run ({after / before:.1f}x)"
            )
    print(f"{'missed' if worst > MOST else 'met'}: at most {MOST:.0f} s later")
    return int(worst > MOST)


if __name__ == "__main__":
    sys.exit(main())
