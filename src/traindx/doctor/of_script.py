"""What the machine means for one script: what it imports, its loaders, and how its last recording ran."""

from __future__ import annotations

import ast
import multiprocessing
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from traindx.core import files
from traindx.core.nouns import Unreadable
from traindx.doctor.line import DoctorLine, State, Surroundings

SUBJECT = "script"
_FRAMEWORKS = frozenset({"torch", "keras", "tensorflow", "jax", "numpy", "lightning", "transformers"})
# Modules of the library that nothing else imports: files of these names do no harm.
_HARMLESS = frozenset({"test", "this", "antigravity", "idlelib", "turtle", "turtledemo", "code", "cmd"})


@dataclass(frozen=True)
class ScriptFacts:
    """Read from the source, never run; `workers` is the most that a loader starts, None where unknown."""

    imports: frozenset[str]
    workers: int | None
    guarded: bool
    method: str | None


def script_facts(path: Path) -> ScriptFacts:
    """Raises `Unreadable` with one line when the file is no Python source."""
    from traindx.source import read_script

    tree = read_script(path).sources[0].tree
    names, workers, method, guarded = set(), [], None, False
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
        elif (
            isinstance(node, ast.keyword)
            and node.arg == "num_workers"
            and isinstance(node.value, ast.Constant)
        ):
            workers += [node.value.value] if isinstance(node.value.value, int) else []
        elif isinstance(node, ast.Call) and _call_name(node) == "set_start_method" and node.args:
            method = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
        elif isinstance(node, ast.If) and "__name__" in ast.unparse(node.test):
            guarded = True
    return ScriptFacts(frozenset(names), max(workers, default=None), guarded, str(method) if method else None)


def _call_name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def lines(place: Surroundings, facts: ScriptFacts | None, cores: float) -> Iterator[DoctorLine]:
    yield _start_method(facts)
    if facts is None or place.script is None:
        return
    if facts.workers is not None and facts.workers > max(2 * cores, cores + 2):
        fact = f"A loader starts {facts.workers} workers on {cores:g} cores."
        fewer = max(1, int(cores) - 1)
        advice = f"num_workers={fewer} or so: more of them take time from the training and each other."
        yield DoctorLine("loader_workers", SUBJECT, "note", fact, advice, {"workers": facts.workers})
    yield from _shadows(place.script)
    yield from _recorded(place)


def _start_method(facts: ScriptFacts | None) -> DoctorLine:
    """How loader workers start: copies of the process, or new ones that import the script again."""
    method = (facts and facts.method) or multiprocessing.get_context().get_start_method()
    fact = f"Loader workers start by '{method}'."
    if facts is not None and method != "fork" and facts.workers and not facts.guarded:
        advice = (
            "Put the training below if __name__ == '__main__': each worker would start it again and fail."
        )
        return DoctorLine("start_method", SUBJECT, "problem", fact, advice)
    if facts is not None and method == "fork" and facts.workers and "jax" in facts.imports:
        advice = "A fork of a process that runs JAX can hang: multiprocessing.set_start_method('spawn')."
        return DoctorLine("start_method", SUBJECT, "note", fact, advice)
    return DoctorLine("start_method", SUBJECT, "ok", fact)


def _shadows(script: Path) -> Iterator[DoctorLine]:
    """Files next to a script that are imported in place of a library of the same name."""
    for path in sorted(script.parent.glob("*.py")):
        name = path.stem
        if path != script and (name in _FRAMEWORKS or name in sys.stdlib_module_names - _HARMLESS):
            fact = f"{path.name} next to the script is imported in place of the library '{name}'."
            yield DoctorLine("shadowed", SUBJECT, "problem", fact, f"Rename {path.name}.")


def _recorded(place: Surroundings) -> Iterator[DoctorLine]:
    """What the detectors of speed and memory found in the latest recording of the script."""
    latest = _latest_recording(place)
    if latest is None:
        fact = "It was not recorded yet: how it uses the machine is not known."
        yield DoctorLine("recording", SUBJECT, "not_checked", fact, f"traindx run {place.script}")
        return
    from traindx.core.units import detectors
    from traindx.engine import case_of, examine, last_run

    try:
        findings = examine(case_of(last_run(latest))).findings
    except (ValueError, Unreadable) as error:
        yield DoctorLine("recording", SUBJECT, "not_checked", str(error))
        return
    ours = {unit.id for unit in detectors() if unit.area == "system"}
    ours_found = [finding for finding in findings if finding.id in ours]
    for finding in ours_found:
        state: State = "note" if finding.severity == "low" else "problem"
        yield DoctorLine(finding.id, SUBJECT, state, finding.text, f"traindx diagnose {latest}")
    if not ours_found:
        fact = f"{latest.name}: no wait, slowdown or growth of memory was found in it."
        yield DoctorLine("recording", SUBJECT, "ok", fact)


def _latest_recording(place: Surroundings) -> Path | None:
    import json

    recordings = []
    for facts in place.folder.glob(".traindx/*/run.json"):
        try:
            recorded = json.loads(files.read(facts))
            path, started = str(recorded["script"]["path"]), float(recorded["started"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if place.script is not None and Path(path).resolve() == place.script.resolve():
            recordings.append((started, facts.parent))
    return max(recordings)[1] if recordings else None
