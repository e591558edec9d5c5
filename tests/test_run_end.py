"""However a program ends: its recording is whole, and the diagnosis follows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest

import traindx
from tests.run_scripts.calling import SCRIPTS, Result, call, facts, printed, recorded, recording
from traindx.observe.folder import Taken, choose
from traindx.observe.journal import Journal
from traindx.observe.launcher_rank import LaunchedRank
from traindx.observe.launcher_rank import place as place_in
from traindx.observe.monitor import Orders

LOG = SCRIPTS / "prints_log.py"


def run(folder: Path, way: str, *options: str) -> Result:
    """In a process group of its own: a signal to the group must not reach the tests."""
    command = [sys.executable, "-m", "traindx", "run", *options, str(LOG), way]
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        start_new_session=True,
    )
    return Result(done.stdout, done.stderr, done.returncode)


ENDINGS = [
    ("finish", 0, "finished", ""),
    ("raise", 1, "exception", "traindx: the program ended with IndexError: list index out of range"),
    ("exit", 3, "exit", "traindx: the program left with exit code 3"),
    ("memory", 1, "exception", "traindx: the program ended with MemoryError:"),
    ("interrupt", -2, "interrupted", "traindx: the program was interrupted"),
    ("gone", 4, "exit", "traindx: the program left with exit code 4, by os._exit"),
    ("terminate", -15, "killed", "traindx: the program was killed (SIGTERM); this is what it had recorded"),
    ("kill", -9, "killed", "traindx: the program was killed (SIGKILL); this is what it had recorded"),
]


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[Path, Future[Result]]]]:
    """All of them at once: a process alone does not fill the processors."""
    places = {ending[0]: tmp_path_factory.mktemp(ending[0]) for ending in ENDINGS}
    with ThreadPoolExecutor(4) as pool:
        yield {way: (folder, pool.submit(run, folder, way)) for way, folder in places.items()}


@pytest.mark.parametrize(("way", "code", "how", "said"), ENDINGS, ids=[ending[0] for ending in ENDINGS])
def test_recording_is_whole_and_diagnosed(
    ends: dict[str, tuple[Path, Future[Result]]], way: str, code: int, how: str | None, said: str
) -> None:
    result, place = ends[way][1].result(), ends[way][0]
    folder = recording(place)
    assert result.code == code, result.err
    assert result.out.endswith("trained\n")
    assert printed(folder / "rank-0.jsonl") == result.out
    ended = facts(folder)["ended"]
    assert (ended["how"] if ended else None) == how
    assert result.err.startswith(f"traindx: recording to .traindx/{folder.name}\n")
    assert said in result.err
    assert "no framework was imported" in result.err or code in (4, -15, -9)
    assert "PROBLEM     went to NaN or Inf at step 50" in result.err
    assert f".traindx/{folder.name} · " in result.err  # the answer names the recording
    assert len(result.err[result.err.index("PROBLEM ") :].splitlines()) <= 24
    assert ("Traceback" in result.err) == (code in (1, -2))
    assert (place / ".traindx" / ".gitignore").read_text() == "*\n"


def test_facts_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "a b.py").write_text("print('x')\n")
    assert recorded(tmp_path, "--quiet", "a b.py", "--lr", "1 2").err == ""
    found = recording(tmp_path)
    assert found.name.startswith("a-b-20")
    told = facts(found)
    assert told["command"] == "python 'a b.py' --lr '1 2'"
    assert told["script"]["path"] == str(tmp_path / "a b.py")
    assert told["script"]["sha256"] == sha256(b"print('x')\n").hexdigest()
    assert told["folder"] == str(tmp_path)
    assert told["python"] == ".".join(map(str, sys.version_info[:3]))


def test_reports_and_exit_code_come_after_everything_of_the_program(tmp_path: Path) -> None:
    result = run(tmp_path, "unclosed", "--json", "a.json", "--html", "a.html", "--fail-on", "critical")
    assert result.code == 1
    assert result.out.endswith("trained\na thread goes on\nregistered by the program\n")
    assert (tmp_path / "unclosed.txt").read_text() == "whole"
    document = json.loads((tmp_path / "a.json").read_bytes())
    assert document["verdict"] == "problem"
    assert document["problems"][0]["severity"] == "critical"
    assert "<html" in (tmp_path / "a.html").read_text()[:200]
    printed_too = printed(recording(tmp_path) / "rank-0.jsonl")
    assert printed_too == result.out
    again = traindx.diagnose(recording(tmp_path)).to_dict()
    assert again["problems"] == document["problems"]


def test_quiet_says_nothing_but_does_what_is_asked(tmp_path: Path) -> None:
    result = run(tmp_path, "raise", "--quiet", "--json", "a.json", "--fail-on", "low", "--out", "here/rec")
    assert result.code == 1
    assert result.err.startswith("Traceback")
    assert "traindx" not in result.err
    assert json.loads((tmp_path / "a.json").read_bytes())["verdict"] == "problem"
    assert (tmp_path / "here" / "rec" / "rank-0.jsonl").exists()
    assert not (tmp_path / ".traindx").exists()


def test_attendant_sleeps_beside_the_program(tmp_path: Path) -> None:
    result = run(tmp_path, "look")
    assert result.out.endswith(f"asleep\nno child nice {os.nice(0)}\n")


def test_report_outlives_a_launcher_that_ends_its_ranks(tmp_path: Path) -> None:
    program = (
        "import os, signal\n"
        "from traindx.cli import _monitor\n"
        "_monitor._ignore_signals()\n"
        "_monitor._obey_keys()\n"
        "for name in ('SIGTERM', 'SIGHUP', 'SIGINT'):\n"
        "    print(name, flush=True)\n"
        "    os.kill(os.getpid(), getattr(signal, name))\n"
    )
    result = call([sys.executable, "-c", program], tmp_path)
    assert (result.out.split(), result.code) == (["SIGTERM", "SIGHUP", "SIGINT"], -2)


def test_program_outlives_its_attendant(tmp_path: Path) -> None:
    result = run(tmp_path, "without_attendant")
    assert result.code == 0
    assert result.err.count("\n") == 1
    assert facts(recording(tmp_path))["ended"]["how"] == "finished"


def test_program_that_becomes_another_is_waited_for(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "traindx", "run", str(LOG), "become"]
    done = subprocess.run(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.stdout.index("became another") < done.stdout.index("went to NaN")


def test_files_of_the_program_are_left_alone(tmp_path: Path) -> None:
    """A program that closes every descriptor opens its own files under the numbers of ours."""
    result = run(tmp_path, "close_all")
    assert result.code == 0
    assert result.out.endswith("20 files\n")
    assert {path.read_text() for path in tmp_path.glob("mine-*.txt")} == {""}


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- >&- 2>&-"])
def test_standard_streams_that_are_closed(tmp_path: Path, closed: str) -> None:
    """Their numbers are free: a pipe or a file of ours must not get one."""
    (tmp_path / "writes.py").write_text(
        "import contextlib, os\n"
        "for number in range(3):\n"
        "    with contextlib.suppress(OSError):\n"
        "        os.write(number, b'from C\\n')\n"
        "print('step 1 loss 2')\n"
    )
    command = f"{sys.executable} -m traindx run --json told.json writes.py {closed}"
    assert call(["sh", "-c", command], tmp_path).code == 0
    assert (tmp_path / "told.json").exists()
    assert "from C" not in (recording(tmp_path) / "rank-0.jsonl").read_text()


def test_killed_before_the_first_step(tmp_path: Path) -> None:
    (tmp_path / "short.py").write_text("import os\nos.kill(os.getpid(), 9)\n")
    result = recorded(tmp_path, "short.py")
    assert result.code == -9
    assert "nothing to diagnose" in result.err
    told = call([sys.executable, "-m", "traindx", "diagnose", recording(tmp_path)], tmp_path)
    assert "no optimizer step was recorded" in told.err


def test_an_end_that_could_not_be_recorded_is_told(tmp_path: Path) -> None:
    (tmp_path / "short.py").write_text(
        "import resource\n"
        "print('step 1 loss 2', flush=True)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))\n"
        "for step in range(2, 50):\n"
        "    print('step', step, 'loss', 1 / step, flush=True)\n"
    )
    result = recorded(tmp_path, "short.py")
    assert result.code == 0
    assert result.out.count("loss") == 49
    assert re.search(r"traindx: file too large: \d+ lines of the recording were lost\n", result.err)
    assert facts(recording(tmp_path))["ended"]["how"] == "finished"


def test_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / ".traindx").write_text("a file in the way")
    spare = tmp_path / "spare"
    spare.mkdir()
    (tmp_path / "short.py").write_text("print('step 1 loss 2')\n")
    result = recorded(tmp_path, "short.py", TMPDIR=str(spare))
    assert (result.out, result.code) == ("step 1 loss 2\n", 0)
    assert result.err.startswith("traindx: .traindx cannot be written (file exists); recording to spare/")
    assert len(list(spare.glob("traindx-*/short-*/rank-0.jsonl"))) == 1


def test_nothing_to_diagnose_is_said(tmp_path: Path) -> None:
    (tmp_path / "silent.py").write_text("pass\n")
    result = recorded(tmp_path, "silent.py")
    assert result.code == 0
    assert "no framework was imported: only the printed output was recorded" in result.err
    assert "nothing to diagnose" in result.err


def test_folders_are_never_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.strftime", lambda *_: "NOW")
    names = [choose(None, "tr/ain", LaunchedRank()).path.name for _ in range(3)]
    assert names == ["tr-ain-NOW", "tr-ain-NOW-2", "tr-ain-NOW-3"]
    assert choose("mine", "x", LaunchedRank()).path == tmp_path / "mine"
    assert choose("mine", "x", LaunchedRank()).path == tmp_path / "mine"
    (tmp_path / "mine" / "rank-0.jsonl").touch()
    with pytest.raises(Taken, match="holds a recording already"):
        choose("mine", "x", LaunchedRank())


def test_ranks_agree_on_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.strftime", lambda *_: "NOW")
    first = [place_in({"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "3"}) for rank in range(3)]
    assert [(one.rank, one.speaks, one.world) for one in first] == [
        (0, True, 3),
        (1, False, 3),
        (2, False, 3),
    ]
    for out, names in ((None, ("t-NOW", "t-NOW-2")), ("mine", ("mine", "mine-2"))):
        assert {choose(out, "t", one).path.name for one in (first[1], first[0], first[2])} == {names[0]}
        (tmp_path / (out or ".traindx/t-NOW") / "rank-1.jsonl").touch()
        again = [LaunchedRank(one.rank, one.local, one.world, 0, 1, one.key) for one in first]
        assert {choose(out, "t", one).path.name for one in again} == {names[1]}
    other = LaunchedRank(0, 0, 2, 0, 0, "1-29500")
    assert choose(None, "t", other).path.name == "t-NOW-3"
    stale = tmp_path / ".traindx" / next((tmp_path / ".traindx").glob(".ranks-*-1-29500")).name
    dead = stale.rename(stale.with_name(stale.name.replace("-1-29500", "-99999999-29500")))
    choose(None, "t", first[0])
    assert not dead.exists()


def test_place_among_ranks() -> None:
    assert place_in({}) == LaunchedRank()
    assert place_in({"RANK": "0", "WORLD_SIZE": "1"}) == LaunchedRank()
    assert place_in({"RANK": "nonsense", "WORLD_SIZE": "2"}) == LaunchedRank()
    slurm = place_in(
        {"SLURM_PROCID": "3", "SLURM_LOCALID": "1", "SLURM_STEP_NUM_TASKS": "4", "SLURM_NODEID": "1"}
    )
    assert (slurm.rank, slurm.local, slurm.world, slurm.node, slurm.speaks) == (3, 1, 4, 1, False)


def test_training_is_stopped_when_something_critical_lasts(tmp_path: Path) -> None:
    from traindx.cli._live import Live

    journal = Journal(tmp_path, 0, 1.7e9)
    losses = [2.0 - 0.01 * step for step in range(60)] + [float("nan")] * 40
    rows = {"t": [0.1 * i for i in range(100)], "step": list(range(1, 101)), "loss": losses, "lr": 0.1}
    journal.append(json.dumps({"rows": rows}).encode() + b"\n")
    asked = Live(Orders(str(tmp_path), "x", os.getpid(), stop_on_critical=True))
    watching = Live(Orders(str(tmp_path), "x", os.getpid(), live=True))
    for live in (asked, watching):
        live._look()
        assert not (tmp_path / "stop").exists()
    asked._look()
    watching._look()
    reason = (tmp_path / "stop").read_text()
    assert reason.startswith("stopped on a critical problem: went to NaN or Inf at step 61")
    assert reason.count("\n") == 1


def test_printed_numbers_alone_are_no_health(tmp_path: Path) -> None:
    """A framework that cannot be seen into, and a loss that falls: the line names it, and no verdict."""
    (tmp_path / "sklearn.py").write_text("")
    lines = "import sklearn\nfor step in range(40):\n    print(f'step {step} loss {2.0 * 0.9**step:.4f}')\n"
    (tmp_path / "train.py").write_text(lines)
    result = recorded(tmp_path, "train.py")
    assert "traindx: scikit-learn: no training step was seen, printed output only" in result.err
    assert "HEALTHY" not in result.err
    assert "torch" not in result.err
