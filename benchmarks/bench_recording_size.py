"""How large a recording grows: 100,000 steps of a model of 100 layers must stay under 20 MB.

The real recorder is fed with rows and samples as a training gives them, sampled as often as the size of
the recording allows, whatever time the samples would take. Written twice: as for steps of 3 ms, where a
quarter of a second makes one block of many rows, and for steps of a second, where each row is a block.
"""

from __future__ import annotations

import math
import random
import sys
import tempfile
import time
from pathlib import Path

STEPS, LAYERS = 100_000, 100
MOST = 20_000_000
LAYER = ("grad_norm", "grad_zero_share", "grad_nonfinite", "weight_norm", "update_ratio")
ACTIVATION = ("zero_share", "dead_share", "saturated_share", "mean", "std", "nonfinite")
BATCH = ("mean", "std", "min", "max", "nonfinite", "zero_share", "constant_share", "scale_ratio")


def row(step: int, draw: random.Random) -> dict[str, object]:
    """What every step leaves: no two numbers alike, as in a real run."""
    norm = draw.lognormvariate(0, 0.3)
    return {
        "loss": 2.3 * step**-0.2 + draw.gauss(0, 0.05),
        "lr": 0.0005 * (1 + math.cos(math.pi * step / STEPS)),
        "grad_norm": norm,
        "grad_norm_clipped": min(norm, 1.0),
        **{
            f"{part}_s": draw.lognormvariate(-4, 0.2) for part in ("step", "forward", "backward", "optimizer")
        },
        "data_wait_s": draw.lognormvariate(-9, 0.2),
    }


def sample(draw: random.Random) -> dict[str, dict[str, object]]:
    """A look inside: all different, but for counts of what should not be there, which are zero."""

    def listed(key: str) -> list[float]:
        return [0.0 if "nonfinite" in key else draw.lognormvariate(-3, 1) for _ in range(LAYERS)]

    return {
        "layer": {key: listed(key) for key in LAYER},
        "activation": {f"activation_{key}": listed(key) for key in ACTIVATION},
        **{group: {key: draw.random() for key in BATCH} for group in ("input", "output", "target")},
    }


def write(folder: Path, rows_in_block: int) -> tuple[int, int, float]:
    """Bytes of the recording, samples in it, and seconds the recorder took."""
    from traindx.observe.recorder import start

    draw = random.Random(0)
    recorder = start(folder)
    recorder.names("layer", [f"blocks.{number}.attention.projection" for number in range(LAYERS)])
    recorder.names("activation", [f"blocks.{number}.mlp.activation" for number in range(LAYERS)])
    samples, spent = 0, 0.0
    for step in range(1, STEPS + 1):
        recorder.step = step
        values, look = row(step, draw), sample(draw) if recorder.may_sample() else None
        began = time.perf_counter()
        recorder.push(values)
        if look is not None:
            recorder.sample(look)
            samples += 1
        if step % 100 == 0:
            recorder.output("out", f"Epoch {step // 1000} step {step}: loss {values['loss']:.4f}")
        if step % rows_in_block == 0:
            recorder.flush()
        spent += time.perf_counter() - began
    recorder.close("finished")
    return sum(path.stat().st_size for path in folder.iterdir()), samples, spent


def main() -> int:
    import traindx

    missed = False
    for words, rows_in_block in (("3 ms", 80), ("1 s", 1)):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "recording"
            size, samples, spent = write(folder, rows_in_block)
            began = time.perf_counter()
            run = traindx.read(folder).runs[0]
            reading = time.perf_counter() - began
        missed = missed or size > MOST
        print(f"steps of {words}: {size / 1e6:.1f} MB with {samples:,} samples (wish: {MOST / 1e6:.0f})")
        each = 1e6 * spent / STEPS
        print(f"  writing takes {each:.0f} us a step; {len(run.series):,} series read in {reading:.2f} s")
    print("missed" if missed else "met")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
