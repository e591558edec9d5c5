"""Programs that change torch under us: they do what they do without us, and what is out of sight is said."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.run_scripts.calling import facts, plain
from tests.script_checks import unchanged
from tests.script_runs import SCRIPTS, Runs, Script, run_ahead

pytest.importorskip("torch")

STEPS = 32
# What is said to be out of sight.
WAYS: dict[str, set[str]] = {
    "wrapped": set(),
    "replaced": {"loss", "activations"},
    "replaced_step": {"optimizer"},
    "reloaded": set(),
    "reloaded_core": {"optimizer"},
    "deleted": set(),
    "sabotaged": {"facts", "layers", "gradient norms", "activations"},
}
QUICK = ("sabotaged",)


@pytest.fixture(scope="module")
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    with run_ahead(request, tmp_path_factory.mktemp("scripts")) as ahead:
        yield ahead


def seen(rec: Path, way: str) -> None:
    told = facts(rec)
    assert (told["ended"]["how"], told["ended"]["step"]) == ("finished", STEPS)
    assert {one["what"] for one in told.get("unseen") or ()} == WAYS[way]


@pytest.mark.parametrize(
    "both",
    [pytest.param(Script(f"patched.py {way}", alone=True, slow=way not in QUICK), id=way) for way in WAYS],
)
def test_changed_after_us(both: Script, runs: Runs) -> None:
    found = unchanged(runs[both])
    assert "RESULT" in found.plain.out
    seen(found.recording, both.argv[1])


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
def test_changed_before_us(tmp_path: Path, way: str) -> None:
    for name in ("patched.py", "fingerprint.py"):
        shutil.copy(SCRIPTS / name, tmp_path)
    without = plain(tmp_path, "patched.py", way)
    assert without.code == 0
    assert plain(tmp_path, "patched.py", way, "watch") == without
    seen(tmp_path / "watched", way)
