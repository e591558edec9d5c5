"""Every item of the request (items.tsv): what must be said about it (cases.toml and four others)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.request.table import HERE, Case, cases, check, items, stored

EVERY = cases()
SLOW = [one for one in EVERY if one.slow]
# Trainings and treatments take minutes together: `make request` runs all, `make test` every sixth.
SAMPLED = SLOW if os.environ.get("TRAINDX_REQUEST") else SLOW[::12]


def marked(every: list[Case]) -> list[object]:
    """A case that fails today must fail: progress is noted by deleting its `known_failing`."""
    failing = pytest.mark.xfail(strict=True, reason="known_failing in its table")
    return [pytest.param(one, id=one.id, marks=[failing] if one.known_failing else []) for one in every]


@pytest.mark.parametrize("case", marked([one for one in EVERY if not one.slow]))
def test_case(case: Case, tmp_path: Path) -> None:
    assert check(case, tmp_path) == []


@pytest.mark.parametrize("case", marked(SAMPLED))
def test_script(case: Case, tmp_path: Path) -> None:
    assert check(case, tmp_path) == []


def test_every_item_has_a_case() -> None:
    own = {one["id"] for one in items() if one["state"] == "now"}
    covered = {item for case in EVERY if not case.lookalike for item in case.items}
    twins = {"000-tree-plateau-floor"}  # what must be said there is that nothing is wrong
    assert own - covered - twins == set()


def test_the_table_is_in_order() -> None:
    names = {one["id"] for one in items()}
    assert len(names) == len(items()) == 224
    assert len({case.id for case in EVERY}) == len(EVERY)
    assert {item for case in EVERY for item in case.items} <= names
    assert sum(case.lookalike for case in EVERY) >= 30
    for case in EVERY:
        for word in case.command.split():
            path = stored(word)
            assert path is None or Path(str(path).partition(":")[0]).exists(), word
    files = [path for path in HERE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sum(path.stat().st_size for path in files) < 2_800_000
