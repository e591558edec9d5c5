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
    terminal.until("2. How busy is the device")
    terminal.until("> ")
    terminal.say("with gaps: it keeps waiting")
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
        "device_busy": "gaps",
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


def first_cause(*args: object) -> tuple[str, float]:
    problem = json.loads(call(*args, "--json").output)["problems"][0]
    return problem["hypotheses"][0]["cause"], problem["hypotheses"][0]["confidence"]


DIRECT = [
    ("not_learning", "loss_input", "classes_as_numbers", "wrong_loss"),
    ("not_learning", "loss_input", "a regression loss (MSE, L1) on class labels", "wrong_loss"),
    ("divergence", "loop", "no_zero_grad", "missing_zero_grad"),
    ("plateau", "batch_by_eye", "masked", "empty_targets"),
    ("underfitting", "model_shape", "linear", "missing_nonlinearity"),
    ("overfitting", "validation_setup", "shared", "data_leakage"),
    ("not_learning", "parameters", "in_list", "untrained_parameters"),
    ("nonfinite", "batch_by_eye", "broken", "corrupt_batch"),
    ("slow_training", "ranks", "slow", "straggler_rank"),
]


@pytest.mark.parametrize(("symptom", "question", "answer", "cause"), DIRECT)
def test_an_answer_that_states_the_fault_outranks_how_rare_it_is(
    tmp_path: Path, symptom: str, question: str, answer: str, cause: str
) -> None:
    path = tmp_path / "answers.json"
    path.write_text(json.dumps({"symptoms": [symptom], "answers": {question: answer}}))
    first, confidence = first_cause("--answers", path)
    assert first == cause
    assert confidence >= 0.8


def test_a_stated_fault_that_cannot_explain_the_symptom_is_a_problem_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    path.write_text(json.dumps({"symptoms": ["slow_training"], "answers": {"shapes": "broadcast"}}))
    problems = json.loads(call("--answers", path, "--json").output)["problems"]
    causes = {problem["symptom"]: problem["hypotheses"][0]["cause"] for problem in problems}
    assert causes["silent_defect"] == "shape_broadcast"
    assert causes["slow_training"] == "input_bound"


PLATEAU = [
    ("", None),
    ("config = 'Adam lr=1e-5'\ngrad_norms = [0.8, 0.7, 0.9]", "lr_too_low"),
    ("schedule = 'constant'", "lr_schedule"),
    ("flat_side = 'both'", "lr_too_high"),
    ("grad_norms = '0.004'", "missing_skip_or_norm"),
    ("grad_norms = '3e-8'", "missing_skip_or_norm"),
]


@pytest.mark.parametrize(("answers", "cause"), PLATEAU)
def test_a_reported_plateau_is_a_problem(tmp_path: Path, answers: str, cause: str | None) -> None:
    path = tmp_path / "answers.toml"
    path.write_text(f"symptoms = ['plateau']\n[answers]\n{answers}\n")
    result = call("--answers", path)
    assert result.exit_code == 1
    assert "othing to fix" not in result.output
    if cause is not None:
        assert first_cause("--answers", path)[0] == cause


def test_a_plateau_at_the_known_result_is_converged(tmp_path: Path) -> None:
    path = tmp_path / "answers.toml"
    path.write_text("symptoms = ['plateau']\n[answers]\nknown_result = 'near'\n")
    assert first_cause("--answers", path)[0] == "converged"
    assert call("--answers", path).exit_code == 0


def test_only_validation_flat_is_overfitting(tmp_path: Path) -> None:
    path = tmp_path / "answers.toml"
    path.write_text("symptoms = ['plateau']\n[answers]\nflat_side = 'validation'\n")
    problem = json.loads(call("--answers", path, "--json").output)["problems"][0]
    assert problem["symptom"] == "overfitting"
    assert problem["hypotheses"][0]["cause"] == "under_regularised"


@pytest.mark.parametrize(
    ("answers", "cause", "advice", "never"),
    [
        ("device_busy = 'busy'", "small_batch_overhead", "batch", "workers"),
        ("device_busy = 'low'", "input_bound", "workers", "othing to fix"),
        ("device_busy = 'busy'\nmemory_shape = 'level'", "memory_bound", "checkpointing", "workers"),
    ],
)
def test_advice_on_speed_fits_the_answer(
    tmp_path: Path, answers: str, cause: str, advice: str, never: str
) -> None:
    path = tmp_path / "answers.toml"
    path.write_text(f"symptoms = ['slow_training']\n[answers]\n{answers}\n")
    assert first_cause("--answers", path)[0] == cause
    fix = json.loads(call("--answers", path, "--json").output)["problems"][0]["hypotheses"][0]["fix"]
    fixes = " ".join(one["summary"] for one in (fix, *fix["then"]))
    assert advice in fixes
    assert never not in fixes


def test_what_was_pasted_is_not_asked_for_again(tmp_path: Path) -> None:
    words = (
        "loss flat from the start: 2.303 2.302 2.303 2.304 2.303 2.302 2.303 2.303 2.304 2.302; "
        "Adam lr=1e-7 batch size 32, gradient norm 0.4"
    )
    result = call("--symptoms", words, "--json")
    told = json.loads(result.output)
    answer = told["interview"]["answers"][0]
    assert answer["settings"] == {"optimizer": "adam", "lr": 1e-7, "batch_size": 32}
    assert answer["series"] == {"loss": 10, "grad_norm": 1}
    assert told["problems"][0]["hypotheses"][0]["cause"] == "lr_too_low"
    path = tmp_path / "answers.json"
    answers: dict[str, str] = {}
    asked = told["interview"]["next"]
    while asked is not None:
        assert asked["question"] not in {"config", "losses", "grad_norms", *answers}
        answers[asked["question"]] = "?"
        path.write_text(json.dumps({"symptoms": [words], "answers": answers}))
        asked = json.loads(call("--answers", path, "--json").output)["interview"]["next"]


def test_pasted_log_lines_are_curves() -> None:
    lines = "\n".join(f"step {i} loss {2.303 + 0.002 * (i % 3):.4f} grad_norm 1e-9" for i in range(20))
    told = json.loads(call("--symptoms", f"it does not learn\n{lines}", "--json").output)
    assert told["interview"]["answers"][0]["series"] == {"loss": 20, "grad_norm": 20}
    assert any(e["finding"] == "grad_vanishes" for p in told["problems"] for e in p["findings"])


@pytest.mark.parametrize(
    ("plan", "name"),
    [
        ("I'll try different optimizers", "try other optimizers"),
        ("let me increase the number of epochs", "train for more epochs"),
        ("I'll just tune the learning rate randomly", "tune the learning rate at random"),
    ],
)
def test_a_plan_is_answered_with_diagnose_first(plan: str, name: str) -> None:
    result = call(stdin=f"{plan}\nloss flat from the start\ny\nq\n")
    shown = " ".join(result.output.split())
    assert f"Diagnose first, then {name}" in shown
    assert "is it flat, oscillating, rising, NaN" in shown
    assert f"To {name}:" in shown


def test_more_epochs_do_not_help_a_flat_curve(tmp_path: Path) -> None:
    log = tmp_path / "metrics.csv"
    log.write_text(LOG)
    shown = " ".join(call(log, stdin="let me increase epochs\n\nq\n").output.split())
    assert "It will not help here" in shown
    assert "2.303" in shown.partition("It will not help here")[0]


def test_words_that_are_not_understood_are_answered_with_the_nearest() -> None:
    shown = " ".join(call(stdin="my validation loss is 0.3\n7\nq\n\n").output.split())
    assert "it says validation loss 0.3, but not what is wrong" in shown
    assert "(overfitting)" in shown
    refused = call("--symptoms", "activations look fine", "--json")
    assert refused.exit_code == 2
    assert refused.output.count("\n") == 1
    assert "dead_units" in refused.output


def test_a_report_restates_the_answers_under_the_findings(tmp_path: Path) -> None:
    answers, page = tmp_path / "answers.toml", tmp_path / "report.md"
    answers.write_text(
        'symptoms = ["train accuracy high, val accuracy low"]\nplan = "more epochs"\n[answers]\n'
        'sizes = "11M parameters, 600 samples"\nfew_samples = "few"\nlabel_quality = "?"\n'
    )
    result = call("--answers", answers, "--md", page)
    assert result.exit_code == 1
    text = page.read_text(encoding="utf-8")
    findings = re.search(r"(?ims)^### [^\n]*findings$(.*?)^### ", text)
    assert findings is not None
    assert "11M parameters, 600 samples" in findings[1]
    assert "little: tens to a few hundred samples per class" in findings[1]
    assert "train accuracy high, val accuracy low" in findings[1]
    assert "training accuracy high; validation accuracy low" in findings[1]
    for title in ("symptom", "root cause", "recommended fix", "what not to do", "reference sheets"):
        assert re.search(rf"(?im)^### .*{title}", text), title
    assert "## Your plan" in text
    assert "show 50 samples" in text
    assert call("--answers", answers, "--md", page).exit_code == 2
    printed = call("--answers", answers, "--md", "-")
    assert printed.output == text
    assert call("--answers", answers, "--md", "-", "--json").exit_code == 2
    assert call("--answers", answers, "--html", tmp_path / "page.html").exit_code == 1
    assert "11M parameters" in (tmp_path / "page.html").read_text(encoding="utf-8")
