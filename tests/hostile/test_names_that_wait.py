"""Names that lead to pipes, devices, sockets and folders: every command says so, and none waits for ever."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hostile import mutants
from tests.hostile.commands import traindx
from traindx.core import files

LOG = "step,loss\n" + "".join(f"{step},{2 / step:.4f}\n" for step in range(1, 40))


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def folder(path: Path) -> None:
    path.mkdir()


def bound(path: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # a socket's name must be short
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(before)


KINDS = {"a pipe": pipe, "a device": device, "a folder": folder, "a socket": bound}
Make = Callable[[Path], None]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "log.csv").write_text(LOG)
    return tmp_path


@pytest.mark.filterwarnings("ignore:unclosed")
@pytest.mark.parametrize("kind", KINDS)
def test_only_regular_files_are_opened(tmp_path: Path, kind: str) -> None:
    KINDS[kind](tmp_path / "x")
    for read in (
        files.opened,
        files.read,
        lambda path: files.head(path, 9),
        lambda path: files.tail(path, 9),
    ):
        with pytest.raises(OSError, match=f"it is {kind}, not a file"):
            read(tmp_path / "x")


def test_a_program_that_waits_at_its_pipe_goes_on_waiting(tmp_path: Path) -> None:
    """Opening the pipe and closing it again would kill the program with SIGPIPE."""
    os.mkfifo(tmp_path / "x")
    with pytest.raises(OSError, match="pipe"):
        files.read(tmp_path / "x")
    with pytest.raises(OSError, match="No such device"):  # nobody has the other end open
        os.open(tmp_path / "x", os.O_WRONLY | os.O_NONBLOCK)


def test_names_that_no_file_can_have(tmp_path: Path) -> None:
    for name in ("a\0b", "\ud800", f"{tmp_path}/{'x' * 5000}"):
        with pytest.raises(OSError, match="name"):
            files.read(name)


def test_a_file_is_refused_when_it_is_larger_than_wanted(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abcdef")
    assert files.read(tmp_path / "x", 6) == b"abcdef"
    assert files.head(tmp_path / "x", 2) == b"ab"
    assert files.tail(tmp_path / "x", 2) == b"ef"
    with pytest.raises(OSError, match="it is larger than 5 bytes"):
        files.read(tmp_path / "x", 5)


@pytest.mark.parametrize("make", [pipe, device], ids=["pipe", "device"])
@pytest.mark.parametrize(
    "command",
    [
        ("lint", "train.py"),
        ("diagnose", "log.csv", "--script", "train.py"),
        ("ask", "--script", "train.py", "--json"),
        ("run", "train.py"),
        ("treat", "train.py"),
        ("preflight", "train.py"),
        ("confirm", "log.csv", "train.py"),
        ("lr-find", "train.py"),
        ("try", "lower_lr", "train.py"),
        ("ask", "--answers", "train.py", "--json"),
    ],
    ids=lambda words: "-".join(words[:2]),
)
def test_a_script_that_is_none(project: Path, make: Make, command: tuple[str, ...]) -> None:
    make(project / "train.py")
    said = traindx(project, *command, code=2)
    what = "a pipe" if make is pipe else "a device"
    assert said.startswith(("Error: train.py", "Usage:")), said
    assert f"it is {what}, not a file" in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("make", [pipe, device], ids=["pipe", "device"])
@pytest.mark.parametrize("name", ["traindx.toml", "pyproject.toml"])
def test_settings_that_are_none(project: Path, make: Make, name: str) -> None:
    make(project / name)
    said = traindx(project, "diagnose", "log.csv", code=2)
    assert f"{name} cannot be read: it is a" in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("make", [pipe, device], ids=["pipe", "device"])
def test_a_casebook_that_is_none(project: Path, make: Make) -> None:
    (project / ".traindx").mkdir()
    make(project / ".traindx" / "casebook.jsonl")
    traindx(project, "diagnose", "log.csv", code=(0, 1))
    traindx(project, "casebook", code=(0, 2))


@pytest.mark.parametrize("make", [pipe, device], ids=["pipe", "device"])
def test_what_lies_beside_logs(project: Path, make: Make) -> None:
    (project / "other.csv").write_text(LOG.replace("2,1.0", "2,1.5"))
    for name in ("log.json", "other.yaml", "module.py", "piped.log"):
        make(project / name)
    (project / "train.py").write_text("import module\n")
    traindx(project, "compare", "log.csv", "other.csv", code=0)
    traindx(project, "inspect", ".", code=0)
    traindx(project, "lint", "train.py", ".", code=(0, 1))


def test_what_a_recording_names(project: Path) -> None:
    here = mutants.recording(project / "recorded")
    script = project / "recorded" / "train.py"
    script.unlink()
    pipe(script)
    traindx(project, "diagnose", here, code=1)
    for command in (("confirm", here), ("compare", here, "log.csv")):
        traindx(project, *command, code=(0, 2))


def test_an_installed_package_with_a_pipe_for_its_entry_points(project: Path) -> None:
    (project / "odd-1.0.dist-info").mkdir()
    pipe(project / "odd-1.0.dist-info" / "entry_points.txt")
    traindx(project, "diagnose", "log.csv", code=(0, 1))


def test_a_log_may_be_a_pipe_that_the_user_names(project: Path) -> None:
    """A shell's `<(...)`; found in a folder it is passed over."""
    end, other = os.pipe()
    os.write(other, LOG.encode())
    os.close(other)
    import subprocess
    import sys

    command = [sys.executable, "-m", "traindx", "inspect", f"/dev/fd/{end}"]
    done = subprocess.run(command, cwd=project, pass_fds=[end], capture_output=True, timeout=60, check=True)
    os.close(end)
    assert b"39 points" in done.stdout
