"""Every subject in its order; what takes long runs at the same time."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from traindx.doctor import (
    disk,
    frameworks,
    interpreter,
    memory,
    of_script,
    processor,
    terminal,
    time_source,
    versions,
)
from traindx.doctor.line import DoctorLine, Surroundings


def examine_machine(place: Surroundings) -> list[DoctorLine]:
    """All lines; raises `Unreadable` when the script is no Python source."""
    facts = of_script.script_facts(place.script) if place.script is not None else None
    with ThreadPoolExecutor(max_workers=4) as pool:
        futures = {name: pool.submit(frameworks.probe, name, place) for name in _frameworks_to_probe(facts)}
        of_versions = pool.submit(_all_lines, lambda: versions.lines(place))
        answers = {name: future.result() for name, future in futures.items()}
        # The disk is measured after the imports: both read from it.
        of_disk = _all_lines(lambda: disk.lines(place))
        torch, jax = answers.get("torch"), answers.get("jax")
        measured = torch if torch and "threads" in torch else None
        return [
            *interpreter.lines(place),
            *of_versions.result(),
            *frameworks.lines(place, torch, jax),
            *processor.lines(place, measured),
            *memory.lines(place, facts.workers if facts else None),
            *of_disk,
            *time_source.lines(place),
            *terminal.lines(place),
            *of_script.lines(place, facts, processor.usable(place)),
        ]


def _frameworks_to_probe(facts: of_script.ScriptFacts | None) -> tuple[str, ...]:
    """The frameworks to import: those of the script, else one that is quick to import."""
    if facts is None:
        return ("torch",) if importlib.util.find_spec("torch") else ("jax",)
    imported = tuple(name for name in ("torch", "jax") if name in facts.imports)
    return imported or (
        ("torch",) if facts.imports & {"lightning", "transformers", "accelerate", "fastai"} else ()
    )


def _all_lines(lines: Callable[[], Iterator[DoctorLine]]) -> list[DoctorLine]:
    return list(lines())
