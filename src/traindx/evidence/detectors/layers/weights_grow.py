"""The weights grow to many times their size within the run.

Compares the norms of the weight matrices at the last look with those at the first. Seen when the typical
layer has grown {growth_factor} times: a run that is thrown outwards by its steps. A sign; the loss tells the
rest.

Silent about layers that start next to 0 (they must grow), and about growth by a few times, which is usual.
Known mistakes: none known; trained nets seldom grow beyond three times.
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Run, Runs, Skipped
from traindx.evidence.detectors._layers import chain, matrices
from traindx.evidence.detectors._number_text import strength, times
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="Weights grow many times over", needs=("fact:models", "weight_norm/*"), family="weights_grow"
)


def detect(
    case: Case, *, growth_factor: float = 5.0, min_initial_gain: float = 0.1, min_samples: int = 3
) -> Detected:
    small = {one.name for one in matrices(case) if one.gain is not None and one.gain < min_initial_gain}
    norms = [c for name, c in chain(case, "weight_norm", looks=min_samples).items() if name not in small]
    factors = [float(curve.y[-1] / curve.y[0]) for curve in norms if curve.y[0] > 0]
    if not factors:
        return Skipped(f"{min_samples} samples of the weights")
    typical = float(np.median(factors))
    if typical < growth_factor:
        return None
    return Finding(
        text=f"The weights of the typical layer have grown {times(typical)} over {len(norms[0])} looks.",
        step=float(norms[0].x[0]),
        series=norms[0].name,
        strength=strength(typical, growth_factor, 30.0),
        numbers={"weight_growth": typical},
    )


def _norms(values: list[float], gain: float = 0.577) -> Run:
    from traindx.evidence.detectors._layers import model

    series = {f"weight_norm/{name}": values for name in (0, 2, 4)}
    return run({"loss": [1.6] * 30, **series}, facts=model([[32, 8], [32, 32], [4, 32]], gain=gain))


def fires() -> Runs:
    yield _norms([1.0, 8.0, 20.0, 40.0])


def silent() -> Runs:
    yield _norms([1.0, 1.2, 1.5, 2.5])
    yield _norms([0.01, 0.5, 1.0, 1.2], gain=0.01)
