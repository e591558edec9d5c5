"""`traindx compare` as somebody uses it: its reports, its errors, a real terminal."""

from __future__ import annotations

import json
import math
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from traindx.cli import cli

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def log(level: float, phase: float = 0.0, points: int = 120) -> str:
    rows = (
        f"{i},{level + 3 * math.exp(-i / 20) + 0.01 * math.sin(7 * i + phase):.5f},"
        f"{level + 0.1 + 3 * math.exp(-i / 20) + 0.01 * math.cos(5 * i + phase):.5f},{level / 10}\n"
        for i in range(points)
    )
    return "step,loss,val_loss,lr\n" + "".join(rows)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    folder.mkdir()
    for level in (0.2, 0.5):
        for seed in range(3):
            (folder / f"level{level}_seed{seed}.csv").write_text(log(level + 0.003 * seed, seed), "utf-8")
    return folder


def call(*args: object, columns: int = 100) -> Result:
    env = {"COLUMNS": str(columns), "TRAINDX_DEBUG": "1"}
    return CliRunner(env=env).invoke(cli, ["compare", *(str(a) for a in args)])


def two(folder: Path) -> list[Path]:
    return [folder / "level0.2_seed0.csv", folder / "level0.5_seed0.csv"]


def test_two_runs_are_told(logs: Path) -> None:
    result = call(*two(logs))
    assert result.exit_code == 0, result.output
    assert "level0.2_seed0.csv is better than level0.5_seed0.csv: val/loss" in " ".join(result.output.split())
    assert "Where they part" in result.output
    assert all(len(line) <= 100 for line in result.output.splitlines())


def test_all_reports_are_written_and_nothing_is_overwritten(logs: Path, tmp_path: Path) -> None:
    md, page, plots = tmp_path / "a.md", tmp_path / "a.html", tmp_path / "plots"
    outs = ["--md", md, "--html", page, "--plots", plots]
    result = call(*two(logs), *outs)
    assert result.exit_code == 0, result.output
    assert (plots / "training_comparison.png").read_bytes()[:4] == b"\x89PNG"
    assert md.read_text(encoding="utf-8").startswith("# Comparison")
    assert "comparison-charts" in page.read_text(encoding="utf-8")
    again = call(*two(logs), *outs)
    assert again.exit_code == 2
    assert "exists already" in again.output
    assert call(*two(logs), *outs, "--force").exit_code == 0


def test_json_has_its_shape(logs: Path) -> None:
    told = json.loads(call(logs, "--json").output)
    assert told["schema"] == "traindx/comparison/1"
    assert {"metric", "verdict", "warnings", "next", "ranking", "runs", "differs", "sweep"} <= told.keys()
    assert len(told["runs"]) == 6
    assert sorted(n for one in told["ranking"] for n in one["runs"]) == list(range(6))
    assert all(run["health"]["line"] for run in told["runs"])


def test_a_log_is_never_replaced(logs: Path) -> None:
    result = call(*two(logs), "--md", two(logs)[0], "--force")
    assert result.exit_code == 2
    assert "one of the logs" in result.output


@pytest.mark.parametrize(
    ("make", "said"),
    [
        ("same", "the same run was given twice"),
        ("copy", "hold the same run"),
        ("one", "only one run was found"),
        ("missing", "it does not exist"),
        ("unshared", "share no metric"),
        ("nan", "NaN or Inf at every point"),
    ],
)
def test_bad_input_is_one_line(make: str, said: str, logs: Path, tmp_path: Path) -> None:
    first = two(logs)[0]
    other = tmp_path / "other.csv"
    if make == "copy":
        other.write_text(first.read_text("utf-8"), "utf-8")
    if make == "unshared":
        other.write_text("step,reward\n" + "".join(f"{i},{i}\n" for i in range(9)), "utf-8")
    if make == "nan":
        first = tmp_path / "first.csv"
        first.write_text("step,loss\n" + "".join(f"{i},nan\n" for i in range(9)), "utf-8")
        other.write_text("step,loss\n" + "".join(f"{i},inf\n" for i in range(9)), "utf-8")
    paths = {"same": [first, first], "one": [first], "missing": [tmp_path / "no.csv"]}.get(
        make, [first, other]
    )
    result = call(*paths)
    assert result.exit_code == 2
    last = result.output.strip().splitlines()[-1]
    assert said in result.output.lower() or said in result.output
    assert last.startswith("Error: ")
    assert "Traceback" not in result.output


def test_names_of_a_log_cannot_break_the_reports(tmp_path: Path) -> None:
    evil = "</script><img src=x onerror=alert(1)> `|\x1b[31m"
    for number, level in enumerate((0.2, 0.5)):
        place = tmp_path / f"r{number}"
        place.mkdir()
        (place / "log.csv").write_text(log(level), "utf-8")
        (place / "config.json").write_text(json.dumps({"lr": level, evil: f"{evil}{number}"}), "utf-8")
    page = tmp_path / "p.html"
    result = call(tmp_path, "--html", page, "--all")
    assert result.exit_code == 0, result.output
    assert "\x1b[31m" not in result.output
    assert "<img src=x" not in page.read_text("utf-8")
    assert "<img src=x" not in call(tmp_path, "--md", "-").output.replace("`", "")


def test_in_a_real_terminal(logs: Path) -> None:
    """A pseudo-terminal of 90 columns: colours, a width that is kept, no traceback."""
    child, seen = pty.fork(), b""
    if child[0] == 0:
        env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "90"}
        os.execve(sys.executable, [sys.executable, "-m", "traindx", "compare", str(logs)], env)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if not select.select([child[1]], [], [], 1.0)[0]:
            continue
        try:
            part = os.read(child[1], 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    _, status = os.waitpid(child[0], 0)
    text = seen.decode("utf-8")
    assert os.waitstatus_to_exitcode(status) == 0, text
    assert "\x1b[1;32mCOMPARED" in text
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert all(len(line) <= 90 for line in plain.splitlines())


def _once_read(fifo: Path, seconds: float = 60) -> int:
    """The writing end of a fifo, as soon as somebody has opened the other end."""
    end = time.monotonic() + seconds
    while True:
        try:
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            assert time.monotonic() < end, "nobody reads the fifo"
            time.sleep(0.02)


def test_interrupted_in_the_middle(logs: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "never.csv"
    os.mkfifo(fifo)
    command = [sys.executable, "-m", "traindx", "compare", str(fifo), str(two(logs)[0]), "--md", "out.md"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    writer = _once_read(fifo)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    os.close(writer)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert not (tmp_path / "out.md").exists()


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_a_browser_draws_the_page_without_a_complaint(logs: Path, tmp_path: Path) -> None:
    for seed in range(8):
        (logs / f"level0.9_seed{seed}.csv").write_text(log(0.9 + 0.001 * seed, seed), "utf-8")
    assert call(logs, "--html", tmp_path / "p.html").exit_code == 0
    options = "--headless --no-sandbox --disable-gpu --window-size=1000,5000 --virtual-time-budget=20000"
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    result = subprocess.run(
        [str(CHROMIUM), *options.split(), profile, "--enable-logging=stderr", "--dump-dom",
         (tmp_path / "p.html").as_uri()],
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert "CONSOLE" not in result.stderr
    drawn = re.sub(r"<script.*?</script>", "", result.stdout, flags=re.S)
    assert drawn.count('data-drawn="yes"') == drawn.count('class="chart') >= 2
