"""What a release and a public host need: one version everywhere, and files that name what exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import traindx

ROOT = Path(__file__).parents[1]
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == traindx.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)$", changes, re.MULTILINE)
    assert released[0] == traindx.__version__


def test_the_workflow_calls_what_make_knows() -> None:
    rules = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    jobs = load(ROOT / ".github" / "workflows" / "test.yml")["jobs"]
    called = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    assert "make test" in called
    assert {command.removeprefix("make ") for command in called} <= set(rules)
    assert jobs["test"]["strategy"]["matrix"]["python"][0] == "3.11"


def test_hooks_download_nothing() -> None:
    repositories = load(ROOT / ".pre-commit-config.yaml")["repos"]
    assert [one["repo"] for one in repositories] == ["local"]
    hooks = {hook["id"]: hook for hook in repositories[0]["hooks"]}
    assert set(hooks) == {"ruff-check", "ruff-format", "mypy"}
    assert all(hook["language"] == "system" for hook in hooks.values())
    assert all(hook["entry"].startswith(".venv/bin/") for hook in hooks.values())


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_issue_templates_are_forms(path: Path) -> None:
    form = load(path)
    if path.stem != "config":
        assert form["name"]
        assert form["description"]
        fields = [part for part in form["body"] if part["type"] != "markdown"]
        assert len({part["id"] for part in fields}) == len(fields) > 1
        assert any(part.get("validations", {}).get("required") for part in fields)


def test_a_wrong_diagnosis_comes_with_what_a_test_needs() -> None:
    body = load(ROOT / ".github" / "ISSUE_TEMPLATE" / "wrong_diagnosis.yml")["body"]
    required = {part["id"] for part in body if part.get("validations", {}).get("required")}
    assert {"log", "diagnosis", "truth"} <= required
