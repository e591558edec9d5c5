"""All ranks are given the same batches.

A fingerprint of the input is recorded at the same steps on every rank. Where the replicas are equal and
every fingerprint is too, the ranks compute the same gradients: the sampler does not part the data
(`DistributedSampler` is missing, or has the same rank everywhere). The time of all ranks but one is lost.

Silent when one batch differs, with fewer than {min_samples} of them, and where ranks hold different parts of
a model, which must see the same data.
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Run, Runs, Skipped
from traindx.testing.sketch import decay, run

DETECTOR = Detector(title="Ranks see the same data", needs=("replica_checksum",), family="rank_data")


def detect(case: Case, *, min_samples: int = 3) -> Detected:
    prints = case.inside.ranks("input/fingerprint")
    if len(prints) < 2 or len(case.inside.ranks("replica_checksum")) < 2:
        return Skipped("fingerprints of the batches of at least two ranks")
    first = next(iter(prints.values()))
    seen = 0
    for other in list(prints.values())[1:]:
        _, mine, its = np.intersect1d(first.x, other.x, return_indices=True)
        if mine.size < min_samples:
            return Skipped(f"fingerprints of at least {min_samples} batches at the same steps")
        if not np.array_equal(first.y[mine], other.y[its]):
            return None
        seen = max(seen, int(mine.size))
    if np.unique(first.y).size == 1:
        return None
    sentence = (
        f"All {len(prints)} ranks were given the same batches, at each of {seen} looks: they compute the "
        f"same gradients, and the work of {len(prints) - 1} of them is lost."
    )
    numbers = {"ranks": len(prints)}
    return Finding(
        sentence, "silent_defect", "medium", case.span[0], series="input/fingerprint", numbers=numbers
    )


def _run(one: list[float], other: list[float]) -> Run:
    series = {"replica_checksum": [1.0, 2.0], "replica_checksum/rank1": [1.0, 2.0]}
    prints = {"input/fingerprint": one, "input/fingerprint/rank1": other}
    return run({"loss": decay(60, 2.0, 0.5), **series, **prints}, facts={"world_size": 2})


def fires() -> Runs:
    yield _run([5.0, 6.0, 7.0, 8.0], [5.0, 6.0, 7.0, 8.0])


def silent() -> Runs:
    yield _run([5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0])
    yield _run([5.0, 6.0], [5.0, 6.0])
