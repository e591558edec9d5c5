"""`traindx ask` as somebody uses it: on a terminal, over a pipe, with a file of answers, as JSON."""

from __future__ import annotations

import json
import math
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from traindx.cli import cli

SCHEMA = json.loads(
    (Path(__file__).parent / "contract" / "diagnosis.schema.json").read_text(encoding="utf-8")
)
LOG = "step,loss\n" + "".join(f"{i},{2.303 + 0.002 * math.sin(7 * i):.5f}\n" for i in range(200))
SCRIPT = """
import torch
model = torch.nn.Linear(4, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
"""
SLOW = 'symptoms = ["slow_training"]\n[answers]\ndata_time = "0.09 of 0.1"\nranks = "one"\n'


def call(*args: object, stdin: str | None = None) -> Result:
    env = {"COLUMNS": "100", "TRAINDX_DEBUG": "1"}
    return CliRunner(env=env).invoke(cli, ["ask", *(str(a) for a in args)], input=stdin)


class Terminal:
    """A real terminal with `traindx ask` in it."""

    def __init__(self, folder: Path, *args: str) -> None:
        self.master, slave = pty.openpty()
        env = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "traindx", "ask", *args],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env=env,
            start_new_session=True,
            close_fds=True,
        )
        os.close(slave)
        self.shown = ""

    def until(self, text: str, seconds: float = 60) -> str:
        """What is shown up to a text that has not been waited for yet."""
        end = time.monotonic() + seconds
        while text not in self.shown:
            if not self._read(end):
                raise AssertionError(f"{text!r} never came; shown: {self.shown[-2000:]}")
        before, _, self.shown = self.shown.partition(text)
        return before + text

    def say(self, line: str) -> None:
        os.write(self.master, f"{line}\n".encode())

    def press(self, key: bytes) -> None:
        os.write(self.master, key)

    def interrupt(self, seconds: float = 60) -> str:
        """Ctrl-C, and again while nothing happens: input() misses one between its prompt and its wait."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            os.killpg(self.process.pid, signal.SIGINT)
            pause = time.monotonic() + 5
            while self.process.poll() is None and time.monotonic() < pause:
                self._read(time.monotonic() + 0.1)
        return self.rest(max(1.0, end - time.monotonic()))

    def rest(self, seconds: float = 60) -> str:
        end = time.monotonic() + seconds
        while self._read(end):
            pass
        self.process.wait(seconds)
        os.close(self.master)
        return self.shown

    def _read(self, end: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.shown += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", data.decode("utf-8", "replace"))
        return bool(data)


def test_a_conversation_on_a_real_terminal(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "--save", "kept.toml")
    terminal.until("What goes wrong?")
    terminal.until("> ")
    terminal.say("the gpu is idle, training is slow")
    assert "Training is slow" in terminal.until("right? [Y/n] ")
    terminal.say("y")
    shown = terminal.until("> ")
    assert "1. How long does a step wait for data" in shown
    assert "asked because it separates waiting for data" in shown
    terminal.say("?")
    assert "find out  time next(iter(loader))" in terminal.until("2. ")
    terminal.until("> ")
    terminal.say("b")
    assert "1. How long does a step wait" in terminal.until("> ")
    terminal.say("0.09 of 0.1")
    terminal.until("Enough: one cause is clearly ahead.")
    terminal.until("plan to try?")
    terminal.until("> ")
    terminal.say("more workers")
    shown = terminal.rest()
    assert terminal.process.returncode == 1
    assert "steps are slow: " in shown
    assert "traindx run train.py" in shown
    assert "That fits" in shown
    assert tomllib.loads((tmp_path / "kept.toml").read_text())["answers"] == {
        "description": "the gpu is idle, training is slow",
        "data_time": "0.09 of 0.1",
    }


def test_ctrl_c_loses_nothing(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.until("> ")
    terminal.say("7")
    terminal.until("1. ")
    terminal.until("> ")
    terminal.say("?")
    terminal.until("2. ")
    terminal.until("> ")
    shown = terminal.interrupt()
    assert terminal.process.returncode == 130
    assert "kept in traindx-answers.toml" in shown
    assert "traindx ask --answers traindx-answers.toml" in shown
    assert "Traceback" not in shown
    kept = tomllib.loads((tmp_path / "traindx-answers.toml").read_text())
    assert kept["symptoms"] == ["nonfinite"]
    assert list(kept["answers"].values()) == ["?"]
    result = call("--answers", tmp_path / "traindx-answers.toml", "--json")
    assert json.loads(result.output)["interview"]["answers"][0]["known"] is False


def test_a_pipe_that_ends_still_gets_a_diagnosis() -> None:
    result = call(stdin="nonfinite\n?\n")
    assert result.exit_code == 1
    assert "went to NaN or Inf" in result.output
    assert "The input ended" in result.output


def test_wrong_answers_are_asked_again() -> None:
    result = call(stdin="99\nbanana\nb\n7\n77\nq\n\n")
    assert '"99" is not understood' in result.output
    assert '"banana" is not understood' in result.output
    assert "nothing before this" in result.output
    assert "there is no 77" in result.output
    assert result.exit_code == 1


def test_answers_of_a_file_give_the_diagnosis_of_diagnose(tmp_path: Path) -> None:
    path = tmp_path / "answers.toml"
    path.write_text(SLOW)
    shown = call("--answers", path)
    assert shown.exit_code == 1
    assert "steps are slow: waiting for data" in shown.output
    told = json.loads(call("--answers", path, "--json").output)
    jsonschema.validate(told, SCHEMA)
    assert told["source"]["evidence"] == ["answers"]
    assert told["problems"][0]["hypotheses"][0]["cause"] == "input_bound"
    assert told["interview"]["next"] is None
    assert told["interview"]["steps"]
    assert call("--answers", path, "--exit-zero").exit_code == 0


def test_json_gives_the_next_question(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    path.write_text(json.dumps({"symptoms": ["my loss is nan"], "plan": ["hide_nan"]}))
    told = json.loads(call("--answers", path, "--json").output)["interview"]
    assert told["symptoms"] == ["nonfinite"]
    question = told["next"]
    assert question["bits"] > 0
    assert question["why"].startswith("asked because")
    assert question["find_out"]
    assert told["plans"][0]["plan"] == "hide_nan"
    assert "set_detect_anomaly" in told["plans"][0]["text"]


def test_a_program_can_begin_with_nothing() -> None:
    told = json.loads(call("--json").output)
    jsonschema.validate(told, SCHEMA)
    assert told["verdict"] == "insufficient_evidence"
    assert told["interview"]["next"]["question"] == "symptoms"
    assert "nonfinite" in told["interview"]["next"]["options"]
    nobody = call(stdin="")
    assert nobody.exit_code == 2
    assert "there is no answer" in nobody.output


def test_a_log_and_a_script_are_not_asked_about(tmp_path: Path) -> None:
    log, script = tmp_path / "metrics.csv", tmp_path / "train.py"
    log.write_text(LOG)
    script.write_text(SCRIPT)
    shown = call(log, stdin="\nq\n\n")
    assert "Seen already: the loss does not fall from the start" in shown.output
    read = json.loads(call(script, "--json").output)
    assert "script" in read["source"]["evidence"]
    assert any(p["hypotheses"][0]["cause"] == "missing_zero_grad" for p in read["problems"])
    both = json.loads(call(log, "--script", script, "--json").output)
    assert {"log", "script"} <= set(both["source"]["evidence"])


def test_contrary_answers_are_said(tmp_path: Path) -> None:
    log, answers = tmp_path / "metrics.csv", tmp_path / "answers.toml"
    log.write_text(LOG)
    answers.write_text('symptoms = ["nonfinite"]\n[answers]\nlosses = [1.0, 2.0]\n')
    result = call(log, "--answers", answers)
    shown = " ".join(result.output.split())
    assert "contrary" in shown
    assert "say otherwise" in shown
    assert "given twice" in shown


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[answers]\nconfg = 1\n", "did you mean config?"),
        ('[answers]\nshuffled = "perhaps"\n', "shuffled: no option reads like that"),
        ('symptoms = ["banana"]\n', '"banana" is not understood'),
        ("symptoms = {\n", "neither TOML nor JSON"),
        ("answers = 3\n", "must be a table"),
        ('[answers]\nprogress = "9 of 2"\n', "beyond the end"),
    ],
)
def test_a_file_without_sense_is_one_line(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "answers.toml"
    path.write_text(text)
    result = call("--answers", path, "--json")
    assert result.exit_code == 2
    assert told in result.output
    assert result.output.count("\n") == 1


def test_bad_paths_are_one_line(tmp_path: Path) -> None:
    for args in (("--answers", tmp_path / "none.toml"), (tmp_path / "none.log",), (tmp_path / "none.py",)):
        result = call(*args, "--json")
        assert result.exit_code == 2, args
        assert result.output.count("\n") == 1


def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    answers, kept = tmp_path / "answers.toml", tmp_path / "kept.json"
    answers.write_text(SLOW)
    kept.write_text("mine")
    assert call("--answers", answers, "--save", kept).exit_code == 2
    assert kept.read_text() == "mine"
    assert call("--answers", answers, "--save", kept, "--force").exit_code == 1
    assert json.loads(kept.read_text())["answers"]["ranks"] == "one"
    again = call("--answers", kept, "--save", kept, "--json")
    assert again.exit_code == 1


def test_the_log_and_the_script_are_never_replaced(tmp_path: Path) -> None:
    log, script, answers = tmp_path / "m.csv", tmp_path / "train.py", tmp_path / "answers.toml"
    log.write_text(LOG)
    script.write_text(SCRIPT)
    answers.write_text(SLOW)
    for args in ((log, "--save", log), (script, "--save", script), ("--script", script, "--save", script)):
        result = call(*args, "--answers", answers, "--force")
        assert result.exit_code == 2, args
        assert "Choose another name" in result.output
    assert log.read_text() == LOG
    assert script.read_text() == SCRIPT
