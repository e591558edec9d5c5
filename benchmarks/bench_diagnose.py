"""`traindx diagnose`: the diagnosis alone, a fresh process, and a thousand small runs.

The wishes: 100,000 points diagnosed within 0.3 s of processor time, reading excluded; a typical run from
start to report within 4 times `import numpy, rich`; 1,000 small runs triaged within 60 s on the clock.
Processes take turns with the rival, so that load on the machine meets both alike; medians are compared.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from bench_inspect import seconds, write_csv, write_tensorboard

ALONE_MOST, RATIO_MOST, THOUSAND_MOST = 0.3, 4.0, 60.0


def alone(points: int = 100_000) -> float:
    """Processor seconds for a run of so many points in four curves, best of five."""
    import numpy as np

    from traindx.engine import diagnose
    from traindx.testing.sketch import noisy, power, run

    each = points // 4
    rise = 1 + 0.5 * np.arange(each) / each
    sketch = run(
        {
            "loss": noisy(power(each, 11.0, 2.5), 0.05),
            "val/loss": noisy(power(each, 11.0, 2.6) * rise, 0.01, seed=1),
            "grad_norm": noisy(np.ones(each), 0.3, seed=2),
            "lr": np.linspace(1e-3, 1e-5, each),
        },
        settings={"optimizer": "adamw", "batch_size": 32, "lr": 1e-3},
    )
    diagnose(sketch)
    times = []
    for _ in range(5):
        start = time.process_time()
        diagnose(sketch)
        times.append(time.process_time() - start)
    return min(times)


def ratios(folder: Path, rounds: int) -> dict[str, float]:
    """Clock time of `traindx diagnose` over that of importing numpy and rich."""
    (folder / "tensorboard").mkdir()
    write_tensorboard(folder / "tensorboard")
    write_csv(folder / "run.csv")
    rival = [sys.executable, "-c", "import numpy, rich"]
    commands = {
        name: [sys.executable, "-m", "traindx", "diagnose", "--exit-zero", str(folder / place)]
        for name, place in (("TensorBoard", "tensorboard"), ("CSV", "run.csv"))
    }
    taken: dict[str, list[float]] = {name: [] for name in ("rival", *commands)}
    for command in (rival, *commands.values()):
        seconds(command, folder)
    for _ in range(rounds):
        taken["rival"].append(seconds(rival, folder)[0])
        for name, command in commands.items():
            taken[name].append(seconds(command, folder)[0])
    base = statistics.median(taken["rival"])
    return {name: statistics.median(taken[name]) / base for name in commands}


def thousand(folder: Path, runs: int = 1000) -> float:
    """Clock seconds for the triage of many small runs."""
    from traindx.testing.sketch import decay, noisy

    for number in range(runs):
        loss, val = (
            noisy(decay(100, 2.3, 0.4), 0.05, seed=number),
            noisy(decay(100, 2.3, 0.5), 0.02, seed=-number % 997),
        )
        rows = [f"{step},{a:.5g},{b:.5g},0.001" for step, (a, b) in enumerate(zip(loss, val, strict=True))]
        (folder / f"run{number:04}.csv").write_text(
            "\n".join(["epoch,loss,val_loss,lr", *rows]), encoding="utf-8"
        )
    command = [sys.executable, "-m", "traindx", "diagnose", "--exit-zero", str(folder)]
    return seconds(command, folder)[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    rounds = parser.parse_args().rounds
    spent = alone()
    print(f"diagnosis of 100,000 points: {spent:.3f} s of processor time (wish: {ALONE_MOST})")
    with tempfile.TemporaryDirectory() as place:
        found = ratios(Path(place), rounds)
    for name, ratio in found.items():
        print(f"{name}, 99,000 points, fresh process: {ratio:.2f} x import numpy, rich (wish: {RATIO_MOST})")
    with tempfile.TemporaryDirectory() as place:
        clock = thousand(Path(place))
    print(f"1,000 small runs: {clock:.1f} s on the clock (wish: {THOUSAND_MOST})")
    missed = spent > ALONE_MOST or max(found.values()) > RATIO_MOST or clock > THOUSAND_MOST
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
