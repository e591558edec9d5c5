"""A sample of the clinic's kept recordings is diagnosed no worse than at the last commit."""

from __future__ import annotations

from pathlib import Path

import pytest
from clinic.corpus import unpack
from clinic.rescore import LEVELS, counts, diagnosed, kept
from clinic.truth import scripts

# Every so many of the scripts, in the order of the truth: of all folders, faulty and healthy.
EVERY = 7
SAMPLE = [script.name for script in scripts()][::EVERY]
FEWER_IS_BETTER = {"healthy called ill"}


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    assert unpack(folder, set(SAMPLE)) == sorted(SAMPLE)
    return folder


def test_a_sample_is_diagnosed_no_worse(recordings: Path) -> None:
    before = {name: kept()[name] for name in SAMPLE}
    now = dict(diagnosed(name, recordings) for name in SAMPLE)
    for level in LEVELS:
        was, found = counts(before, level), counts(now, level)
        for what, (count, of) in found.items():
            worse = count > was[what][0] if what in FEWER_IS_BETTER else count < was[what][0]
            changed = {n: (str(before[n][level]), str(now[n][level])) for n in now if before[n] != now[n]}
            assert not worse, f"{level}: {what} {was[what][0]} -> {count} of {of}: {changed}"


def test_every_recording_is_kept_and_speaks_of_no_machine(recordings: Path) -> None:
    assert set(kept()) == {script.name for script in scripts()}
    for path in recordings.rglob("*.json*"):
        text = path.read_text(encoding="utf-8").replace(str(recordings), "")
        assert "/home/" not in text
        assert "site-packages" not in text.replace("@packages@", "")
