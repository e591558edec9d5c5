"""Docs that cannot drift: generated pages are up to date, links lead somewhere, examples run."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from traindx.core.nouns import Finding
from traindx.core.units import Bundle, readers
from traindx.evidence.case import Case
from traindx.evidence.inputs import first_answer
from traindx.logs.log_file import File

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")])


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_up_to_date() -> None:
    for path, text in generator().pages().items():
        current = path.read_text(encoding="utf-8") if path.exists() else ""
        assert current == text, f"{path.name} is out of date: run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if not target.startswith(("http:", "https:", "mailto:")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("unit", readers(), ids=lambda unit: unit.id)
def test_every_reader_has_a_page(unit: object) -> None:
    page, title = unit.page, unit.title  # type: ignore[attr-defined]
    assert title
    first = page.split("\n\n")[0]
    assert len(page) > 80, "the docstring is the page: say what it reads and what quirks it copes with"
    assert first.rstrip().endswith("."), first


def example_reader(tmp_path: Path) -> ModuleType:
    """The reader that adding-a-reader.md shows, as a module."""
    text = (ROOT / "docs" / "adding-a-reader.md").read_text(encoding="utf-8")
    path = tmp_path / "frobnicator.py"
    path.write_text(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0], encoding="utf-8")
    spec = importlib.util.spec_from_file_location("frobnicator", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_detector_keeps_its_promises() -> None:
    text = (ROOT / "docs" / "adding-a-detector.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec(
        compile(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0], "adding-a-detector.md", "exec"), names
    )
    unit = replace(names["DETECTOR"], detect=names["detect"])
    for run in names["fires"]():
        assert isinstance(first_answer(unit, Case(run)), Finding)
    for run in names["silent"]():
        assert not isinstance(first_answer(unit, Case(run)), Finding)


def test_the_example_reader_works(tmp_path: Path) -> None:
    unit = example_reader(tmp_path).READER
    path = tmp_path / "frob.log"
    path.write_text("step;loss\n0;2.5\n1;nan\n2;1.0\n3;", encoding="utf-8")
    file = File(path)
    assert unit.claim(file).run == str(tmp_path)
    (log,) = unit.read(Bundle(str(tmp_path), (file,)))
    (column,) = log.columns
    assert column.steps.tolist() == [0, 1, 2]
    assert column.values[2] == 1.0
    assert len(file.notes) == 1


def test_the_json_page_names_every_key() -> None:
    page = (ROOT / "docs/json.md").read_text(encoding="utf-8")
    for name in ("runs_json", "diagnosis_json"):
        source = (ROOT / f"src/traindx/report/{name}.py").read_text(encoding="utf-8")
        for key in re.findall(r'^\s+"(\w+)":', source, re.MULTILINE):
            assert f"`{key}`" in page, f"docs/json.md does not name {key}"


def test_the_readme_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.csv").write_text("step,loss\n0,3\n1,2\n2,1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    example = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[
        0
    ]
    exec(compile(example, "README.md", "exec"), {})
    assert capsys.readouterr().out.split()[-2:] == ["insufficient_evidence", "[]"]
