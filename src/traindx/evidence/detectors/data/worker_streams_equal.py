"""Every worker of a loader draws the same random numbers.

A generator that a dataset keeps is copied into each worker process: all of them draw the same numbers, and
a new copy begins with each epoch. Augmentations then repeat. (The global generators of torch, numpy and
random are seeded apart by torch.) Of medium severity when the script shows that the generator is used for
each sample, else low.

Silent without workers, with a `worker_init_fn`, and when the dataset keeps no generator.
"""

import ast

from traindx.evidence.detector import Case, Detected, Detector, Finding, Place, Run, Runs, number, words
from traindx.testing.sketch import decay, run

DETECTOR = Detector(title="Workers draw the same numbers", needs=("fact:loaders",), family="worker_streams")
_BUILDING = ("__init__", "__new__", "__post_init__", "setup")


def detect(case: Case) -> Detected:
    for loader in case.inside.loaders:
        streams, workers = words(loader, "own_random"), number(loader, "workers") or 0.0
        if (
            not streams
            or workers < 1
            or loader.get("worker_init") is True
            or loader.get("role") != "training"
        ):
            continue
        used = _used(case, streams[0].rpartition(".")[2])
        if workers < 2 and loader.get("persistent_workers") is True:
            continue
        if used is None and case.script is not None:
            continue
        phrase = f"the {workers:g} workers all draw" if workers > 1 else "the worker of each epoch draws"
        return Finding(
            f"{loader.get('dataset', 'The dataset')} keeps its own generator ({streams[0]}), which each "
            f"worker process gets a copy of: {phrase} the same numbers.",
            "silent_defect",
            "medium" if used is not None else "low",
            case.span[0],
            numbers={"workers": workers},
            places=(used,) if used is not None else (),
        )
    return None


def _used(case: Case, name: str) -> Place | None:
    """Where a method other than the constructor uses the attribute."""
    for source in case.script.sources if case.script is not None else ():
        methods = [
            method
            for cls in ast.walk(source.tree)
            if isinstance(cls, ast.ClassDef)
            for method in cls.body
            if isinstance(method, ast.FunctionDef) and method.name not in _BUILDING
        ]
        for method in methods:
            for node in ast.walk(method):
                if isinstance(node, ast.Attribute) and node.attr == name:
                    return Place(source.path, node.lineno)
    return None


def _run(**facts: object) -> Run:
    loader = {
        "workers": 2,
        "own_random": ["rng"],
        "worker_init": False,
        "role": "training",
        "dataset": "Noisy",
    }
    return run({"loss": decay(60, 2.0, 0.5)}, facts={"loaders": [{**loader, **facts}]})


def fires() -> Runs:
    yield _run()


def silent() -> Runs:
    yield _run(own_random=[])
    yield _run(worker_init=True)
    yield _run(workers=0)
