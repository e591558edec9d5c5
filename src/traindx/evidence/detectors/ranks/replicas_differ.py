"""Replicas that should be equal hold different weights.

A checksum of the weights is recorded at the same steps on every rank; equal replicas give equal numbers.
They part when gradients are not averaged (the model is not wrapped, `no_sync` is left on), when each rank
starts from its own random weights, or when one skips a step.

Silent with one rank, and when parameters are sharded (each rank holds another part).
"""

from traindx.evidence.detector import Case, Detected, Detector, Event, Finding, Runs, Skipped, number
from traindx.testing.sketch import decay, run

DETECTOR = Detector(title="Replicas differ", needs=("replica_checksum",), family="replicas")


def detect(case: Case) -> Detected:
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


def fires() -> Runs:
    event = Event(
        "replicas_differ", "the weights of rank 1 differ from those of rank 0 at 7 of 7 samples", 1.0
    )
    series: dict[str, list[float]] = {
        "loss": [3.0, 2.0, 1.0],
        "replica_checksum": [3.0, 2.9],
        "replica_checksum/rank1": [3.1, 3.3],
    }
    yield run(series, events=[event], facts={"world_size": 2})


def silent() -> Runs:
    same = {"replica_checksum": [3.0, 2.9], "replica_checksum/rank1": [3.0, 2.9]}
    yield run({"loss": decay(60, 2.0, 0.5), **same}, facts={"world_size": 2})
    yield run({"loss": decay(60, 2.0, 0.5), "replica_checksum": [3.0]}, facts={"world_size": 1})
