"""Crashes are diagnoses: real exceptions of PyTorch, in process, in a log and in a recording."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from traindx.core.nouns import Diagnosis, Event
from traindx.core.tracebacks import from_data, parsed
from traindx.engine import diagnose
from traindx.observe.ending import crash_of, how_it_ended
from traindx.testing.sketch import run


def _linear() -> None:
    nn.Sequential(nn.Linear(4, 16), nn.Linear(17, 3))(torch.randn(10, 4))


def _dtypes() -> None:
    nn.Linear(4, 2)(torch.from_numpy(np.ones((3, 4))))


def _float_targets() -> None:
    F.nll_loss(torch.randn(4, 3).log_softmax(1), torch.tensor([0.0, 1.0, 2.0, 0.0]))


def _one_sample() -> None:
    nn.BatchNorm1d(4)(torch.randn(1, 4))


def _second_backward() -> None:
    state = torch.zeros(1, 3)
    cell = nn.RNNCell(3, 3)
    for _ in range(2):
        state = cell(torch.randn(1, 3), state)
        state.sum().backward()


def _in_place() -> None:
    x = torch.ones(3, requires_grad=True).exp()
    y = (x**2).sum()
    x += 1
    y.backward()


def _class() -> None:
    F.cross_entropy(torch.randn(2, 3), torch.tensor([1, 3]))


def _embedding() -> None:
    nn.Embedding(10, 2)(torch.tensor([10]))


def _logits() -> None:
    F.binary_cross_entropy(torch.tensor([1.5]), torch.tensor([1.0]))


def _detached() -> None:
    nn.Linear(2, 1)(torch.randn(3, 2)).detach().sum().backward()


def _not_reduced() -> None:
    F.mse_loss(nn.Linear(2, 1)(torch.randn(3, 2)), torch.zeros(3, 1), reduction="none").backward()


def _checkpoint() -> None:
    nn.Linear(2, 1).load_state_dict(nn.Linear(3, 1).state_dict())


def _no_samples() -> None:
    torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.empty(0, 2)), shuffle=True)


def _scaler() -> None:
    weight = nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scaler = torch.amp.GradScaler("cpu")
    scaler.step(optimizer)


def _unequal_samples() -> None:
    torch.stack([torch.zeros(3), torch.zeros(4)])


CRASHES: dict[Callable[[], None], str] = {
    _linear: "shape_mismatch",
    _unequal_samples: "shape_mismatch",
    _dtypes: "dtype_mismatch",
    _float_targets: "dtype_mismatch",
    _one_sample: "batch_too_small",
    _second_backward: "graph_carried_over",
    _in_place: "in_place_change",
    _class: "output_mismatch",
    _embedding: "index_out_of_range",
    _logits: "missing_activation",
    _detached: "untrained_parameters",
    _not_reduced: "wrong_loss",
    _checkpoint: "state_not_restored",
    _no_samples: "too_little_data",
    _scaler: "amp_misuse",
}


def _diagnosed(function: Callable[[], None]) -> Diagnosis:
    with pytest.raises((RuntimeError, ValueError, LookupError, AssertionError)) as raised:
        function()
    text = how_it_ended(raised.value)[1]
    return diagnose(run({}, events=[Event("exception", text, None, crash_of(raised.value))]))


@pytest.mark.parametrize("function", CRASHES, ids=lambda one: one.__name__.strip("_"))
def test_a_known_exception_gives_its_cause_and_the_line_of_the_user(function: Callable[[], None]) -> None:
    diagnosis = _diagnosed(function)
    problem = diagnosis.problems[0]
    assert (diagnosis.verdict, problem.symptom) == ("problem", "crash")
    first = problem.hypotheses[0]
    assert first.cause == CRASHES[function]
    assert first.confidence > 0.8
    assert first.fixes
    assert first.place is not None
    assert Path(first.place.file).name == "test_crash.py"
    begin = function.__code__.co_firstlineno
    assert begin < (first.place.line or 0) < begin + 10


def test_an_unknown_exception_has_a_line_and_no_cause() -> None:
    diagnosis = _diagnosed(lambda: {}["labels"])  # type: ignore[func-returns-value, dict-item, arg-type]
    problem = diagnosis.problems[0]
    assert problem.symptom == "crash"
    assert problem.hypotheses == ()
    assert "test_crash.py" in problem.summary
    assert "KeyError" in problem.summary


def test_a_person_who_interrupts_and_an_exit_are_no_crash() -> None:
    assert crash_of(KeyboardInterrupt()) == crash_of(SystemExit(0)) == crash_of(None) == {}
    for kind in ("interrupted", "exit", "stopped"):
        diagnosis = diagnose(run({"loss": np.linspace(2, 1, 50)}, events=[Event(kind, kind, 49.0)]))
        assert "crash" not in [problem.symptom for problem in diagnosis.problems]


def test_what_was_measured_before_the_crash_counts() -> None:
    with pytest.raises(AssertionError) as raised:
        raise AssertionError("loss is not finite")
    loss = [2.0] * 30 + [float("nan")] * 5
    event = Event("exception", "AssertionError: loss is not finite", 34.0, crash_of(raised.value))
    diagnosis = diagnose(run({"loss": loss}, events=[event]))
    assert [problem.symptom for problem in diagnosis.problems][:2] == ["nonfinite", "crash"]


def test_a_traceback_of_a_worker_leads_to_the_line_in_its_quotation() -> None:
    lines = """[rank0]: Traceback (most recent call last):
[rank0]:   File "/home/u/train.py", line 3, in <module>
[rank0]:     for x in loader:
[rank0]:   File "/usr/lib/python3.11/site-packages/torch/utils/data/dataloader.py", line 733, in __next__
[rank0]:     raise exception
[rank0]: KeyError: Caught KeyError in DataLoader worker process 0.
[rank0]: Original Traceback (most recent call last):
[rank0]:   File "/home/u/data.py", line 9, in __getitem__
[rank0]:     return self.rows[i]
[rank0]: KeyError: 5
step 12 continues""".splitlines()
    found, count = parsed(lines)
    assert found is not None
    assert count == 10
    assert (found.kind, found.frames[-1].file, found.frames[-1].line) == ("KeyError", "/home/u/data.py", 9)
    assert from_data(found.data(), "") == found


MODEL = """
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 16), nn.Linear(17, 3)

    def forward(self, x):
        return self.second(self.first(x).relu())
"""
TRAIN = """
import torch
from .model import Net

def fit(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(5):
        loss = torch.nn.functional.cross_entropy(model(torch.randn(8, 4)), torch.randint(0, 3, (8,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

fit(Net())
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "net"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "model.py").write_text(MODEL)
    (folder / "__main__.py").write_text(TRAIN)
    return tmp_path


def test_a_package_that_crashes_before_its_first_step_is_diagnosed(package: Path) -> None:
    command = [sys.executable, "-m", "traindx", "run", "--json", "out.json", "-m", "net"]
    done = subprocess.run(command, cwd=package, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stderr
    document = json.loads((package / "out.json").read_text())
    (problem,) = document["problems"]
    first = problem["hypotheses"][0]
    assert (problem["symptom"], first["cause"], first["kind_of"]) == (
        "crash",
        "shape_mismatch",
        "shape_broadcast",
    )
    assert (Path(first["location"]["file"]).name, first["location"]["line"]) == ("model.py", 10)
    assert "17" in problem["summary"]


def test_a_log_that_holds_only_a_traceback_is_diagnosed(package: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "net"], cwd=package, capture_output=True, timeout=120)
    log = package / "train.log"
    log.write_bytes(b"loading data\n" + done.stderr)
    first = diagnose(log).problems[0].hypotheses[0]
    assert first.cause == "shape_mismatch"
    assert first.place is not None
    assert first.place.line == 10
    numbers = b"".join(b"step %d loss %.3f\n" % (n, 2 - 0.01 * n) for n in range(60))
    log.write_bytes(numbers + done.stderr)
    assert diagnose(log).problems[0].symptom == "crash"
    log.write_bytes(done.stderr + numbers)
    assert "crash" not in [problem.symptom for problem in diagnose(log).problems]
