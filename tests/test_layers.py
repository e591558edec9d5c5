"""Imports go one way: from what people call down to the nouns."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "traindx"

# Highest first. A room imports only rooms that stand lower; rooms of one line do not know each other.
LAYERS = [
    ["cli", "serve", "integrations"],
    ["report"],
    ["experiment", "comparison", "interview", "checkup", "doctor"],
    ["engine"],
    ["knowledge"],
    ["evidence"],
    ["logs", "source", "observe", "testing", "skills"],
    ["core", "__init__"],
]
# These run inside somebody's training and must never load the diagnosis.
INSIDE_A_TRAINING = ("observe", "experiment/runtime", "experiment/changes", "experiment/sandbox")
# The few calls upwards, loaded when they are called: a diagnosis as plain data and in a notebook; the
# diagnosis of a recording, asked for by the script that makes it; the changes that a process started by a
# trial's arm is to make. And one sideways: the command that starts the server.
UPWARDS = {
    ("cli/mcp.py", "traindx.serve.mcp.server"),
    ("core/nouns.py", "traindx.report.diagnosis_json"),
    ("core/nouns.py", "traindx.report.answer"),
    ("core/nouns.py", "traindx.report.diagnosis"),
    ("observe/watch.py", "traindx.engine"),
    ("observe/launch.py", "traindx.experiment.runtime.arm"),
    ("observe/children.py", "traindx.experiment.runtime.arm"),
}
RANK = {part: number for number, parts in enumerate(LAYERS) for part in parts}


def part_of(module: str) -> str:
    """`traindx.report.runs_json` -> `report`; `traindx` itself -> `__init__`."""
    names = module.split(".")
    return names[1] if len(names) > 1 else "__init__"


def imports(tree: ast.AST) -> Iterator[str]:
    """Modules of traindx that a file imports when it runs, wherever the statement stands."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "traindx")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "traindx":
            if node.module == "traindx":
                yield from (
                    f"traindx.{a.name}"
                    if (SRC / a.name).exists() or (SRC / f"{a.name}.py").exists()
                    else "traindx"
                    for a in node.names
                )
            else:
                yield str(node.module)
        elif isinstance(node, ast.ImportFrom) and node.level:
            pytest.fail(f"relative import of {node.module}: write it in full")
        else:
            yield from imports(node)


# `__main__.py` is the command line.
FILES = sorted(path.relative_to(SRC).as_posix() for path in SRC.rglob("*.py") if path.name != "__main__.py")


@pytest.mark.parametrize("file", FILES)
def test_imports_go_down(file: str) -> None:
    here = file.split("/")[0].removesuffix(".py")
    assert here in RANK, f"{here} has no place in LAYERS"
    for module in imports(ast.parse((SRC / file).read_text(encoding="utf-8"))):
        there = part_of(module)
        if there == here or (file, module) in UPWARDS:
            continue
        assert there in RANK, f"{file} imports {module}, which has no place in LAYERS"
        assert RANK[there] > RANK[here], f"{file} imports {module}, which stands above it"


@pytest.mark.parametrize("file", [file for file in FILES if file.startswith(INSIDE_A_TRAINING)])
def test_what_runs_inside_a_training_loads_no_diagnosis(file: str) -> None:
    for module in imports(ast.parse((SRC / file).read_text(encoding="utf-8"))):
        if (file, module) in UPWARDS:
            continue
        room = "/".join(module.split(".")[1:])
        allowed = (
            (*INSIDE_A_TRAINING, "core", "") if file.startswith("experiment") else ("observe", "core", "")
        )
        assert any(room == part or room.startswith(f"{part}/") for part in allowed), (
            f"{file} imports {module}"
        )


def test_readers_do_not_know_each_other() -> None:
    """What two readers need stands in `traindx.logs`."""
    for path in (SRC / "logs" / "formats").glob("*.py"):
        for module in imports(ast.parse(path.read_text(encoding="utf-8"))):
            names = module.split(".")
            if names[:3] == ["traindx", "logs", "formats"] and len(names) > 3:
                pytest.fail(f"{path.name} imports the reader {names[3]}")


def test_no_module_shadows_the_standard_library() -> None:
    parts = {part.removesuffix(".py") for file in FILES for part in file.split("/")}
    assert not (parts - {"__main__"}) & set(sys.stdlib_module_names)


def test_there_are_at_most_eight_layers() -> None:
    assert len(LAYERS) <= 8


def test_one_name_for_one_class() -> None:
    homes: dict[str, list[str]] = {}
    for file in FILES:
        for node in ast.parse((SRC / file).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(file)
    # Users of a framework import the callback of theirs, by the one name.
    homes.pop("TraindxCallback")
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}
