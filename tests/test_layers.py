"""Imports go one way: from what people call down to the nouns."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "traindx"

# Highest first. A part imports only parts that stand lower; parts of one line do not know each other.
LAYERS = [
    ["__main__"],
    ["cli", "serve", "mcp", "notebook"],
    ["report"],
    ["checklist"],
    ["trial"],
    ["engine"],
    ["comparing", "interview", "lint"],
    ["intervene"],
    ["record"],
    ["find", "knowledge"],
    ["examine"],
    ["readers", "detectors"],
    ["reading", "case", "sketch"],
    ["inside"],
    ["curve", "script"],
    ["casebook", "signal", "names", "numbers", "units", "settings", "store", "free"],
    ["core", "files", "documents"],
    ["__init__", "demo"],
]
# These run inside somebody's training and must never load the diagnosis.
APART = {
    "record": {"store", "files", "documents"},
    "intervene": {"store", "record"},
    "integrations": {"store", "record", "intervene"},
}
# The few calls upwards, loaded when they are called: a diagnosis as plain data and in a notebook; the
# diagnosis of a recording, asked for by the script that makes it; the changes that a process started by a
# trial's arm is to make.
UPWARDS = {
    ("core.py", "traindx.report.diagnosis_json"),
    ("core.py", "traindx.report.notebook"),
    ("record/watch.py", "traindx.engine"),
    ("record/launch.py", "traindx.intervene.arm"),
    ("record/children.py", "traindx.intervene.arm"),
}
RANK = {part: number for number, parts in enumerate(LAYERS) for part in parts}


def part_of(module: str) -> str:
    """`traindx.report.json` -> `report`; `traindx` itself -> `__init__`."""
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


FILES = sorted(path.relative_to(SRC).as_posix() for path in SRC.rglob("*.py"))


@pytest.mark.parametrize("file", FILES)
def test_imports_go_down(file: str) -> None:
    here = file.split("/")[0].removesuffix(".py")
    assert here in RANK or here in APART, f"{here} has no place in LAYERS"
    for module in imports(ast.parse((SRC / file).read_text(encoding="utf-8"))):
        there = part_of(module)
        if there == here or (file, module) in UPWARDS:
            continue
        if here in APART:
            assert there in APART[here] | {"__init__", "core"}, f"{file} imports {module}"
        else:
            assert there in RANK, f"{file} imports {module}, which has no place in LAYERS"
            assert RANK[there] > RANK[here], f"{file} imports {module}, which stands above it"


def test_readers_do_not_know_each_other() -> None:
    """What two readers need stands in `traindx.reading`."""
    for path in (SRC / "readers").glob("*.py"):
        for module in imports(ast.parse(path.read_text(encoding="utf-8"))):
            names = module.split(".")
            if names[:2] == ["traindx", "readers"] and len(names) > 2:
                pytest.fail(f"{path.name} imports the reader {names[2]}")
