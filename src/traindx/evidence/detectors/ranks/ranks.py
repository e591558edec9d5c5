"""Several ranks of one training."""

import numpy as np

from traindx.core.facts import number
from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Event, Finding, Run, Skipped
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.testing.sketch import decay, noisy, run


@Detector("Ranks see the same data", needs=("replica_checksum",), family="rank_data")
def rank_data_repeated(case: Case, *, min_samples: int = 3) -> Detected:
    """All ranks are given the same batches.

    A fingerprint of the input is recorded at the same steps on every rank. Where the replicas are equal and
    every fingerprint is too, the ranks compute the same gradients: the sampler does not part the data
    (`DistributedSampler` is missing, or has the same rank everywhere). The time of all ranks but one is
    lost.

    Silent when one batch differs, with fewer than {min_samples} of them, and where ranks hold different
    parts of a model, which must see the same data.
    """
    prints = case.inside.ranks("input/fingerprint")
    if len(prints) < 2 or len(case.inside.ranks("replica_checksum")) < 2:
        return Skipped("fingerprints of the batches of at least two ranks")
    first = next(iter(prints.values()))
    shared = 0
    for curve in list(prints.values())[1:]:
        _, mine, theirs = np.intersect1d(first.x, curve.x, return_indices=True)
        if mine.size < min_samples:
            return Skipped(f"fingerprints of at least {min_samples} batches at the same steps")
        if not np.array_equal(first.y[mine], curve.y[theirs]):
            return None
        shared = max(shared, int(mine.size))
    if np.unique(first.y).size == 1:
        return None
    sentence = (
        f"All {len(prints)} ranks were given the same batches, at each of {shared} looks: they compute the "
        f"same gradients, and the work of {len(prints) - 1} of them is lost."
    )
    numbers = {"ranks": len(prints)}
    return Finding(
        sentence, "silent_defect", "medium", case.span[0], series="input/fingerprint", numbers=numbers
    )


def _run(first: list[float], second: list[float]) -> Run:
    series = {"replica_checksum": [1.0, 2.0], "replica_checksum/rank1": [1.0, 2.0]}
    prints = {"input/fingerprint": first, "input/fingerprint/rank1": second}
    return run({"loss": decay(60, 2.0, 0.5), **series, **prints}, facts={"world_size": 2})


@Detector("One rank is slow", needs=("forward_s",), family="rank_pace")
def rank_slow(
    case: Case,
    step_s: Curve,
    *,
    late_share: float = 0.25,
    full_strength_at: float = 0.6,
    min_seconds: float = 0.005,
    min_points: int = 10,
) -> Detected:
    """One rank is slower than the others, which wait for it.

    Ranks leave a step together, so the time of a step says nothing; what a rank does before gradients are
    exchanged does. Compares the seconds each spends on its own, waiting for data and in the forward pass.
    Seen when one needs longer than the median of the others by {late_share} of a step at least, and by more
    than {min_seconds} seconds.

    Silent when ranks take turns in being late, and when all are slow alike.
    """
    forward, wait = case.inside.ranks("forward_s"), case.inside.ranks("data_wait_s")
    if len(forward) < 2:
        return Skipped("the times of at least two ranks")
    if any(len(curve) < min_points for curve in forward.values()):
        return Skipped(f"at least {min_points} values of the time per step of every rank")
    own = {
        rank: float(np.median(curve.y[1:])) + (float(np.median(wait[rank].y[1:])) if rank in wait else 0.0)
        for rank, curve in forward.items()
    }
    slowest = max(own, key=lambda rank: own[rank])
    usual = float(np.median([seconds for rank, seconds in own.items() if rank != slowest]))
    late, whole = own[slowest] - usual, float(np.median(step_s.y[1:]))
    if whole <= 0 or late < min_seconds or late < late_share * whole:
        return None
    return Finding(
        f"Rank {slowest} needs {text(own[slowest])} s for data and forward pass, others {text(usual)} s: "
        f"they wait for it {percent(late / whole)} of each step.",
        "slow_training",
        "medium",
        float(step_s.x[0]),
        series="forward_s",
        strength=strength(late / whole, late_share, full_strength_at),
        numbers={"slow_rank": slowest, "wait_share": round(100 * late / whole)},
    )


def _run_rank_slow(first: float, second: float) -> Run:
    times = {"forward_s": noisy([first] * 60, 0.05), "forward_s/rank1": noisy([second] * 60, 0.05, seed=1)}
    return run({**times, "step_s": noisy([0.1] * 60, 0.05)}, facts={"world_size": 2})


@Detector("Replicas differ", needs=("replica_checksum",), family="replicas")
def replicas_differ(case: Case) -> Detected:
    """Replicas that should be equal hold different weights.

    A checksum of the weights is recorded at the same steps on every rank; equal replicas give equal numbers.
    They part when gradients are not averaged (the model is not wrapped, `no_sync` is left on), when each
    rank starts from its own random weights, or when one skips a step.

    Silent with one rank, and when parameters are sharded (each rank holds another part).
    """
    if len(case.inside.ranks("replica_checksum")) < 2:
        return Skipped("checksums of at least two ranks")
    recorded_events = case.inside.events("replicas_differ")
    if not recorded_events:
        return None
    world = number(case.run.facts, "world_size")
    of = f" of {world:g}" if world else ""
    text = recorded_events[0].text
    sentence = f"{text[:1].upper()}{text[1:]}; {len(recorded_events) + 1}{of} ranks train apart."
    return Finding(
        sentence,
        "silent_defect",
        "high",
        recorded_events[0].step,
        numbers={"ranks_apart": len(recorded_events)},
    )


def cases() -> Cases:
    yield from rank_data_repeated.fires(_run([5.0, 6.0, 7.0, 8.0], [5.0, 6.0, 7.0, 8.0]))
    yield from rank_data_repeated.silent(_run([5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0]))
    yield from rank_data_repeated.silent(_run([5.0, 6.0], [5.0, 6.0]))
    yield from rank_slow.fires(_run_rank_slow(0.02, 0.07))
    yield from rank_slow.silent(_run_rank_slow(0.05, 0.055), _run_rank_slow(0.0002, 0.0007))
    event = Event(
        "replicas_differ", "the weights of rank 1 differ from those of rank 0 at 7 of 7 samples", 1.0
    )
    series: dict[str, list[float]] = {
        "loss": [3.0, 2.0, 1.0],
        "replica_checksum": [3.0, 2.9],
        "replica_checksum/rank1": [3.1, 3.3],
    }
    yield from replicas_differ.fires(run(series, events=[event], facts={"world_size": 2}))
    equal = {"replica_checksum": [3.0, 2.9], "replica_checksum/rank1": [3.0, 2.9]}
    yield from replicas_differ.silent(
        run({"loss": decay(60, 2.0, 0.5), **equal}, facts={"world_size": 2}),
        run({"loss": decay(60, 2.0, 0.5), "replica_checksum": [3.0]}, facts={"world_size": 1}),
    )
