"""What a recorded training read: its files profiled, and the facts kept next to the recording."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from traindx.checkup.data.measuring import profile
from traindx.checkup.target import CheckRequest
from traindx.core import files
from traindx.core.documents import json_of
from traindx.core.nouns import Run, Unreadable
from traindx.source.script import Script, read_script

FILE = "data.json"
SECONDS = 6.0
_SECONDS_ASKED = 120.0
_CHECKPOINTS = (".pt", ".pth", ".ckpt", ".safetensors", ".h5", ".keras")
_CHECKPOINT_MOST, _CHECKPOINTS_MOST = 2 << 30, 4
# What no training leaves behind; layers as initialisation made them may be meant.
_DAMAGE = ("checkpoint_nonfinite", "tensors_zero", "units_zero", "units_equal", "weights_exploded")
_TARGET_NAME = re.compile(r"(?:^|_)(?:ys?|labels?|targets?|outcomes?)(?:_|$)", re.I)
_UNREPORTED = (".parquet", ".arrow")


def run(request: CheckRequest) -> Run:
    """A recorded training with what is measured now of the files it read; raises Unreadable with one line."""
    from traindx.engine import read

    folder = request.targets[0]
    if not check_recording(folder, seconds=_SECONDS_ASKED):
        raise Unreadable(f"{folder}: no data file is known that this training read and that is still there")
    runs = read(folder).runs
    if not runs:
        raise Unreadable(f"{folder}: nothing was recorded")
    return runs[-1]


def check_recording(folder: str | os.PathLike[str], *, seconds: float = SECONDS) -> dict[str, Any]:
    """Profile what the training of a recording read; the facts, empty where it read nothing that is data."""
    try:
        facts = json_of(files.read(Path(folder) / "run.json"))
    except (OSError, ValueError):
        return {}
    if not isinstance(facts, Mapping):
        return {}
    script = _script(facts)
    lines = files_of(facts, script)
    data = [path for path in lines if not path.lower().endswith(_CHECKPOINTS)]
    loaded = _loaded_checkpoints(facts, lines)
    if not data and not loaded:
        return {}
    data_facts = profile(
        data, target=target_in(script), seconds=seconds, lines=lines, classes=_class_counts(facts)
    )
    for path in loaded:
        entry = {"path": path, "name": os.path.basename(path), "line": lines[path]}
        try:
            data_facts.setdefault("data_checkpoints", []).extend(_damage(path))
        except Unreadable as error:
            entry["why"] = str(error).removeprefix(f"{path}: ")
        data_facts["data_files"].append(entry)
    data_facts["recording"] = os.fspath(folder)
    (Path(folder) / FILE).write_text(json.dumps(data_facts))
    return data_facts


def _loaded_checkpoints(facts: Mapping[str, Any], lines: Mapping[str, str]) -> list[str]:
    """The checkpoints that a training read and had not written itself."""
    began = facts.get("started")
    listed = facts.get("files_read")
    older_paths = {
        entry.get("path")
        for entry in (listed if isinstance(listed, list) else ())
        if isinstance(entry, Mapping)
        and isinstance(changed := entry.get("modified"), float)
        and isinstance(began, int | float)
        and changed < began
    }
    paths = [path for path in lines if path.lower().endswith(_CHECKPOINTS) and path in older_paths]
    return [path for path in paths if os.path.getsize(path) <= _CHECKPOINT_MOST][:_CHECKPOINTS_MOST]


def _damage(path: str) -> list[dict[str, Any]]:
    """What the check of a checkpoint finds in it that is worth acting on."""
    from traindx.checkup.weights import checkpoint
    from traindx.engine import diagnose

    problems = diagnose(checkpoint.run(CheckRequest((path,)))).problems
    return [
        {"file": os.path.basename(path), "text": finding.text, "severity": finding.severity}
        for problem in problems
        for finding in problem.findings
        if finding.id in _DAMAGE
    ]


def _class_counts(facts: Mapping[str, Any]) -> list[int]:
    """How often each class was a target in the batches that were sampled."""
    counted = facts.get("classes")
    if not isinstance(counted, Mapping):
        return []
    return [count for count in counted.values() if isinstance(count, int)]


def files_of(facts: Mapping[str, Any], script: Script | None) -> dict[str, str]:
    """The files that a training read, as far as they are there, and the lines that open them."""
    lines_by_path: dict[str, str] = {}
    folders: dict[str, str] = {}
    listed = facts.get("files_read")
    for entry in listed if isinstance(listed, list) else ():
        if not isinstance(entry, Mapping) or not isinstance(path := entry.get("path"), str):
            continue
        line = str(entry.get("line", ""))
        if entry.get("images"):
            folders[path] = line
        elif os.path.isfile(path):
            lines_by_path[path] = line
    if folders:
        root = os.path.commonpath(list(folders))
        if os.path.isdir(root) and len(Path(root).parts) > 2:
            lines_by_path[root] = next(iter(folders.values()))
    lines_by_path |= {
        path: line for path, line in _unreported_files(facts, script) if path not in lines_by_path
    }
    return lines_by_path


def _unreported_files(facts: Mapping[str, Any], script: Script | None) -> Iterator[tuple[str, str]]:
    """Files that the script names and that are opened past Python."""
    folder = facts.get("folder")
    if script is None or not isinstance(folder, str):
        return
    for source in script.sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                path = os.path.join(folder, node.value)
                if node.value.endswith(_UNREPORTED) and os.path.isfile(path):
                    yield path, f"{source.path}:{node.lineno}"


def _script(facts: Mapping[str, Any]) -> Script | None:
    script = facts.get("script")
    path = script.get("path") if isinstance(script, Mapping) else None
    if not isinstance(path, str):
        return None
    try:
        return read_script(path)
    except Exception:  # without its source less is known of the data, and nothing is lost
        return None


def target_in(script: Script | None) -> str:
    """The column that a script takes its targets from: named where something called a target is set."""
    for source in script.sources if script is not None else ():
        for node in ast.walk(source.tree):
            for name, value in _set(node):
                if _TARGET_NAME.search(name) and (column := _column(value)):
                    return column
    return ""


def _set(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names, with what is assigned or appended to them."""
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from _matched(target, node.value)
    elif isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Attribute):
        name = ast.unparse(node.func.value)
        if node.func.attr == "append":
            yield name, node.args[0]


def _matched(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for element, its in zip(target.elts, value.elts, strict=False):
            yield from _matched(element, its)


def _column(value: ast.expr) -> str:
    """The only name by which a value takes something from something, or the value itself."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    names: Sequence[str] = [
        node.slice.value
        for node in ast.walk(value)
        if isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
    ]
    return names[0] if len(set(names)) == 1 else ""
