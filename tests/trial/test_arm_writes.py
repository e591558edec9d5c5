"""Whatever a training writes, and by whatever way: the user's folders are as before."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.trial import places
from traindx.experiment.arms import Arm, Outcome, Workshop
from traindx.experiment.sandbox import landlock
from traindx.observe.program import find_script

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="trials need fork")

SCRIPT = Path(__file__).parent / "scripts" / "writes.py"
Told = tuple[dict[str, Outcome], dict[str, str], places.State, places.State]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    base, keep = tmp_path_factory.mktemp("machine"), tmp_path_factory.mktemp("kept")
    user, elsewhere, home = places.make(base)
    shutil.copy(SCRIPT, user / "train.py")
    before = places.state(base)
    kinds = ["files", "refused", "programs", "processes"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.chdir(user)
        with Workshop(find_script("train.py", ()), jobs=2, keep=keep) as shop:
            arms = [Arm(kind, args=(kind, str(user), str(elsewhere))) for kind in kinds]
            outcomes = {outcome.arm.name: outcome for outcome in shop.run(arms, timeout=60)}
    said = dict(line.split(": ", 1) for each in outcomes.values() for line in _printed(each.recording))
    return outcomes, said, before, places.state(base)


def _printed(recording: Path) -> list[str]:
    lines = map(json.loads, (recording / "rank-0.jsonl").read_text(encoding="utf-8").splitlines())
    return [line for line in "".join(each.get("out", "") for each in lines).splitlines() if ": " in line]


def test_the_users_folders_are_as_before(told: Told) -> None:
    _, _, before, after = told
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert not changed


@pytest.mark.parametrize(
    ("name", "saw"),
    [
        ("overwrites_its_checkpoint", 3),
        ("saves_over_an_absolute_checkpoint", (5, True)),
        ("appends_to_its_log", "log\nmore\n"),
        ("changes_a_large_file_in_place", ([7, 7, 7, 7, 9, 0], 2 << 20)),
        ("saves_arrays", ([0, 1, 2], 32)),
        ("writes_into_a_crowded_folder", ("new", False, 2099)),
        ("removes_and_renames", ["b.txt", "d.txt", "linked_file.txt", "log.txt", "rights.txt"]),
        ("removes_whole_folders", (["new"], False)),
        ("changes_rights_and_times", (0o600, 1)),
        ("writes_elsewhere", (["copied.txt", "file.txt", "log.txt", "rights.txt"], "log\nmore", "y")),
        ("writes_at_home", "new"),
        ("writes_through_links", ("new", "file\nmore")),
        ("climbs_out", ("xmore", "y", ["x.txt", "y.txt"])),
        ("keeps_a_database", (2,)),
        ("logs_with_logging", True),
        ("uses_temporary_files", True),
        ("goes_elsewhere", ["here.txt", "there.txt", "through.txt", "z.txt"]),
        ("copies_by_program", ("log\n", "log\nmore\nsystem\n", False)),
        ("commits", True),
        ("writes_in_forked_workers", (["new", "new"], "new", "new")),
        ("writes_in_spawned_workers", ["new", "new"]),
    ],
)
def test_a_training_sees_what_it_wrote(told: Told, name: str, saw: object) -> None:
    assert told[1][name] == repr(saw)


def test_what_slips_by_is_refused(told: Told) -> None:
    outcomes, said, _, _ = told
    for name in ("opens_by_its_class", "removes_by_descriptor"):
        assert "a trial of traindx writes only to its own copy" in said[name]
    assert any(path.endswith("/elsewhere/class.txt") for path in outcomes["refused"].outside["refused"])


@pytest.mark.skipif(landlock.version() < 2, reason="the kernel has no Landlock")
def test_the_kernel_refuses_what_python_does_not_see(told: Told) -> None:
    said = told[1]
    refusals = ("Permission denied", "Read-only file system")
    assert said["writes_from_c"] in [f"(-1, {why!r})" for why in refusals]
    assert any(why in said["saves_with_cplusplus"] for why in refusals)
    assert said["copies_elsewhere_by_program"] == "(1, True)"
    assert said["starts_python"] == "(1, True, True)"


def test_what_was_redirected_is_told(told: Told) -> None:
    outcome = told[0]["files"]
    run = outcome.run
    assert run is not None
    ends = [
        os.path.relpath(path, Path(outcome.outside["redirected"][0]).parents[1])
        for path in outcome.outside["redirected"]
    ]
    assert "elsewhere/log.txt" in ends
    assert "home/notes.txt" in ends
    assert not any(end.startswith("work/project") for end in ends)
    assert run.facts["writes"]["redirected"] == list(outcome.outside["redirected"])
