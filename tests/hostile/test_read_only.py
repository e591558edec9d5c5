"""A project folder that cannot be written: the recording goes elsewhere, one line says so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.run_scripts.calling import Result, call, facts

NOBODY = 65534
# Another user who may read everything (Python itself may lie in a folder of root's) and write nothing.
AS_NOBODY = (
    f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups --inh-caps=-all,+dac_read_search "
    "--ambient-caps=-all,+dac_read_search --bounding-set=-all,+dac_read_search"
).split()
PRINTS = "print('step 1 loss 2')\n"
WATCHES = "import traindx\ntraindx.watch()\nprint('step 1 loss 2')\n"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """Readable for everybody, writable for nobody; `tmp` beside it is for temporary files."""
    if not shutil.which("setpriv") or os.geteuid() != 0:
        pytest.skip("needs root and setpriv, to become somebody else")
    if subprocess.run([*AS_NOBODY, "true"], capture_output=True, check=False).returncode:
        pytest.skip("becoming another user is not permitted here")
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp").chmod(0o777)
    (folder / "train.py").write_text(PRINTS)
    (folder / "watches.py").write_text(WATCHES)
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)


def as_nobody(project: Path, *words: object) -> Result:
    command = [*AS_NOBODY, sys.executable, *words]
    return call(command, project, TMPDIR=str(project.parent / "tmp"), HOME="/nonexistent")


def elsewhere(project: Path) -> Path:
    (found,) = (project.parent / "tmp" / f"traindx-{NOBODY}").glob("*-*")
    return found


def test_run_records_elsewhere(project: Path) -> None:
    result = as_nobody(project, "-m", "traindx", "run", "train.py")
    assert (result.out, result.code) == ("step 1 loss 2\n", 0)
    found = elsewhere(project)
    said = f"traindx: .traindx cannot be written (permission denied); recording to {found}\n"
    assert result.err.startswith(said)
    assert facts(found)["ended"]["how"] == "finished"
    assert sorted(os.listdir(project)) == ["train.py", "watches.py"]


def test_watch_records_elsewhere(project: Path) -> None:
    result = as_nobody(project, "watches.py")
    found = elsewhere(project)
    assert (result.out, result.code) == ("step 1 loss 2\n", 0)
    assert result.err == f"traindx: .traindx cannot be written (permission denied); recording to {found}\n"
    assert facts(found)["ended"]["how"] == "finished"


def test_no_place_at_all(project: Path) -> None:
    (project.parent / "tmp").chmod(0o555)
    result = as_nobody(project, "-m", "traindx", "run", "--out", "/proc/rec", "train.py")
    assert (result.out, result.code) == ("step 1 loss 2\n", 0)
    assert result.err.startswith("traindx: ")


CLOSES = """
import os
for step in range(1, 4):
    print("step", step, "loss", 1 / step, flush=True)
    os.chmod("rec", 0o555)
"""


def test_a_folder_that_is_closed_on_the_way(project: Path) -> None:
    """Its files stay ours: the end goes into them."""
    mine = project.parent / "tmp" / "mine"
    mine.mkdir()
    os.chown(mine, NOBODY, NOBODY)
    (mine / "train.py").write_text(CLOSES)
    command = [*AS_NOBODY, sys.executable, "-m", "traindx", "run", "--quiet", "--out", "rec", "train.py"]
    result = call(command, mine, TMPDIR=str(project.parent / "tmp"), HOME="/nonexistent")
    assert (result.out.count("loss"), result.err, result.code) == (3, "", 0)
    assert facts(mine / "rec")["ended"]["how"] == "finished"
