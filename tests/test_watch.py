"""`traindx.watch`, `traindx.log` and `traindx.diagnose()`: recording by one line in a script."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import traindx
from traindx.core.nouns import Run
from traindx.observe import recorder as recorders
from traindx.observe import watch as watching
from traindx.observe.logged_values import numbers_of

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No recording before, none after, and all folders in a place of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(recorders, "_current", None)
    monkeypatch.setattr(watching, "_latest", None)
    torch.manual_seed(0)
    yield
    left = watching._latest
    if left is not None:
        left.stop()


def train(steps: int, lr: float = 0.05, fail_at: int | None = None) -> tuple[Any, Any]:
    """A small training as users write it."""
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for step in range(steps):
        _step(model, optimizer)
        if step == fail_at:
            raise RuntimeError("mine")
    return model, optimizer


def _step(model: Any, optimizer: Any) -> None:
    x = torch.randn(16, 4)
    loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def run_of(folder: object) -> Run:
    (run,) = traindx.read(folder).runs  # type: ignore[arg-type]
    return run


def ended(folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder / "run.json").read_text())["ended"]
    return told


# Beginning and ending.


def test_a_plain_call_records_until_stop() -> None:
    watch = traindx.watch()
    train(30)
    watch.stop()
    train(10)
    run = run_of(watch.folder)
    assert run.series["loss"].steps.tolist() == list(range(1, 31))
    assert run.settings["lr"] == 0.05
    assert ended(watch.folder)["how"] == "finished"
    assert not watch.active


def test_a_with_block_records_what_is_in_it() -> None:
    train(5)
    with traindx.watch(name="mine") as watch:
        assert watch.active
        train(20)
    train(5)
    assert len(run_of(watch).series["loss"]) == 20
    assert watch.folder.parent == Path.cwd() / ".traindx"
    assert watch.folder.name.startswith("mine-")
    assert json.loads((watch.folder / "run.json").read_text())["name"] == "mine"


def test_an_exception_passes_and_is_told() -> None:
    with pytest.raises(RuntimeError, match="mine"), traindx.watch() as watch:
        train(20, fail_at=7)
    assert ended(watch.folder) | {"t": 0} == {
        "how": "exception",
        "text": "RuntimeError: mine",
        "t": 0,
        "step": 8,
    }
    assert len(run_of(watch).series["loss"]) == 8


def test_an_interrupt_is_told() -> None:
    with pytest.raises(KeyboardInterrupt), traindx.watch() as watch:
        raise KeyboardInterrupt
    assert ended(watch.folder)["how"] == "interrupted"


def test_the_next_watch_ends_the_one_before() -> None:
    folders = []
    for fold in range(3):
        folders.append(traindx.watch(name=f"fold{fold}").folder)
        train(10 + fold)
    watching._latest.stop()  # type: ignore[union-attr]
    assert [len(run_of(folder).series["loss"]) for folder in folders] == [10, 11, 12]
    assert [ended(folder)["how"] for folder in folders] == ["finished"] * 3


def test_the_training_is_the_same_with_and_without() -> None:
    plain = [one.detach().clone() for one in train(25)[0].parameters()]
    torch.manual_seed(0)
    with traindx.watch(budget="50%"):
        watched = [one.detach().clone() for one in train(25)[0].parameters()]
    assert all(torch.equal(a, b) for a, b in zip(plain, watched, strict=True))


def test_nothing_is_hooked_or_patched_when_it_is_over(capsys: pytest.CaptureFixture[str]) -> None:
    hooks = sys.modules["torch.optim.optimizer"]._global_optimizer_pre_hooks
    before = torch.optim.Optimizer._patch_step_function, sys.stdout, len(hooks)
    with traindx.watch():
        train(3)
        assert torch.optim.Optimizer._patch_step_function is not before[0]
        assert len(hooks) > before[2]
        print("kept")
    assert (torch.optim.Optimizer._patch_step_function, sys.stdout, len(hooks)) == before
    assert "write" not in vars(sys.stdout)
    assert capsys.readouterr().out == "kept\n"


def test_what_is_printed_is_read_like_a_log() -> None:
    with traindx.watch() as watch:
        model, optimizer = train(1)
        for epoch in range(3):
            _step(model, optimizer)
            print(f"epoch {epoch}: val_acc {0.5 + epoch / 10:.2f}")
    assert run_of(watch).series["val/accuracy"].values.tolist() == [0.5, 0.6, 0.7]


# What is given to it.


def test_models_and_optimizers_are_known_before_the_first_step() -> None:
    model = torch.nn.Linear(4, 1)
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.1), torch.optim.Adam(model.parameters())]
    with traindx.watch(model, optimizers) as watch:
        pass
    told = [json.loads(line) for line in (watch.folder / "rank-0.jsonl").read_text().splitlines()]
    (never,) = [line["text"] for line in told if line.get("event") == "optimizer_never_stepped"]
    assert never.startswith("2 optimizers")


def test_out_is_taken_as_given() -> None:
    with traindx.watch(out=Path("here/there")) as watch:
        train(3)
    assert watch.folder == Path.cwd() / "here" / "there"
    with pytest.raises(
        ValueError, match=r"^out='here/there' holds a recording already: give another.*none\.$"
    ):
        traindx.watch(out="here/there")


@pytest.mark.parametrize("budget", ["fast", "-1%", "", "60%", 1, 5, -0.1, True, None, math.nan, "1%%", []])
def test_a_budget_that_is_none_is_refused(budget: Any) -> None:
    with pytest.raises(ValueError, match=r"^budget=.* is no share between 0 and 50%, like '1%'.*\.$"):
        traindx.watch(budget=budget)
    assert not Path(".traindx").exists()


@pytest.mark.parametrize(
    ("budget", "share"), [("1%", 0.01), (" 0.5 % ", 0.005), (0.02, 0.02), ("0.03", 0.03), (0, 0), ("0%", 0)]
)
def test_a_budget_is_a_share(budget: Any, share: float) -> None:
    with traindx.watch(budget=budget):
        here = recorders.current()
        assert here is not None
        assert here.budget.share == pytest.approx(share)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"model": 3}, "int"),
        ({"model": "net"}, "str"),
        ({"optimizer": [None]}, "NoneType"),
        ({"optimizer": torch.nn.Linear(1, 1)}, "Linear"),
    ],
)
def test_what_cannot_be_watched_is_a_line_and_no_error(
    given: dict[str, Any], kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with traindx.watch(**given):
        here = recorders.current()
        assert here is not None
        assert not here.off
    assert (
        f"traindx: a {kind} cannot be watched: only what is printed of it is recorded"
        in capsys.readouterr().err
    )


def test_a_name_is_a_text() -> None:
    with pytest.raises(TypeError, match=r"^name must be a text; got int\.$"):
        traindx.watch(name=3)  # type: ignore[arg-type]
    assert not Path(".traindx").exists()


def test_a_sequential_is_one_model_and_not_a_list() -> None:
    with traindx.watch(torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.ReLU())):
        assert recorders.current() is not None


def test_a_folder_that_cannot_be_written_moves_the_recording(capsys: pytest.CaptureFixture[str]) -> None:
    Path("taken").write_text("a file")
    with traindx.watch(out="taken/inside") as watch:
        train(3)
    said = capsys.readouterr().err
    assert said.startswith("traindx: taken/inside cannot be written (")
    assert str(watch.folder) in said
    assert len(run_of(watch).series["loss"]) == 3


# Numbers of the script's own.


def test_log_adds_a_point_at_the_present_step() -> None:
    with traindx.watch() as watch:
        model, optimizer = train(5)
        assert traindx.log(val_accuracy=0.5) is True
        _step(model, optimizer)
        assert traindx.log({"val_accuracy": torch.tensor(0.75, requires_grad=True), "note": None}) is True
        assert traindx.log({"step": 100, "val_accuracy": np.float32(0.875)})
        assert traindx.log({"reward": 3}, step=50)
    series = run_of(watch).series
    assert series["val/accuracy"].steps.tolist() == [5, 6, 100]
    assert series["val/accuracy"].values.tolist() == [0.5, 0.75, 0.875]
    assert series["reward"].steps.tolist() == [50]


def test_log_does_not_mix_with_what_is_measured() -> None:
    with traindx.watch() as watch:
        train(10)
        traindx.log({"loss": 100.0, "t": 5, "event": 1, "out": 2, "rows": 3})
    run = run_of(watch)
    assert len(run.series["loss"]) == 10
    assert run.series["loss"].values.max() < 100


def test_log_keeps_nan_and_never_raises() -> None:
    with traindx.watch() as watch:
        train(3)
        assert traindx.log(score=math.nan, other=math.inf)
        assert traindx.log(text="oops", image=torch.zeros(3), big=10**400) is False
        assert traindx.log(5) is False  # type: ignore[arg-type]
        assert traindx.log(again="oops", fine=1) is True
        for number in range(200):
            traindx.log({f"odd{number}": object()})
    facts = json.loads((watch.folder / "run.json").read_text())
    told = {item["what"]: item["why"] for item in facts["unseen"]}
    assert told["logged text"] == "str is no number (TypeError)"
    assert "logged log(int)" in told
    assert len(told) < 60
    run = run_of(watch)
    assert any(math.isnan(value) for series in run.series.values() for value in series.values)


def test_log_without_a_recording_does_nothing() -> None:
    assert traindx.log(loss=1.0) is False
    traindx.watch().stop()
    assert traindx.log(loss=1.0) is False
    assert len(list(Path(".traindx").iterdir())) == 2  # one folder and .gitignore


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (1, 1.0),
        (True, 1.0),
        (Decimal("0.5"), 0.5),
        (np.int64(3), 3.0),
        (np.array(2.5), 2.5),
        (np.array([2.5]), 2.5),
        (torch.tensor([[4.0]]), 4.0),
        (torch.tensor(3, dtype=torch.bfloat16), 3.0),
    ],
)
def test_numbers_of_all_kinds(value: object, number: float) -> None:
    assert numbers_of({"a": {"b": value}}) == ({"a/b": number}, {})


# Diagnosing.


def test_diagnose_is_about_the_present_recording_and_then_the_last() -> None:
    with traindx.watch() as watch:
        train(80, lr=50.0)
        now = traindx.diagnose()
    later = [traindx.diagnose(), traindx.diagnose(watch), watch.diagnose(), traindx.diagnose(watch.folder)]
    assert now.verdict == "problem"
    assert now.problems[0].symptom in ("nonfinite", "divergence")
    assert len(now.run.series["loss"]) == 80
    assert {one.problems[0].hypotheses[0].cause for one in [now, *later]} == {
        now.problems[0].hypotheses[0].cause
    }


def test_diagnose_without_a_recording_says_what_to_do() -> None:
    with pytest.raises(
        ValueError, match=r"^nothing was recorded in this process: call traindx\.watch\(\) .*"
    ):
        traindx.diagnose()


def test_diagnose_before_the_first_step_says_so() -> None:
    with traindx.watch(), pytest.raises(ValueError, match="no training run was found"):
        traindx.diagnose()


def test_the_examples_of_the_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[1] / "docs" / "watch.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "watch.md"}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(block, "watch.md", "exec"), names)
    verdict, folder, again = capsys.readouterr().out.splitlines()
    assert {verdict, again} <= {"healthy", "problem", "insufficient_evidence"}
    assert Path(folder).name.startswith("wide-")
    # It is named after the program, which is not pytest itself where tests run side by side.
    others = [path for path in Path(".traindx").iterdir() if not path.name.startswith("wide-")]
    runs = [run for path in others for run in traindx.read(path).runs if "val/accuracy" in run.series]
    logged = runs[0].series["val/accuracy"]
    assert logged.values.tolist() == [0.5, 0.55, 0.6, 0.65]


# Whole processes.


def script(tmp_path: Path, code: str, *before: str) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "train.py"
    path.write_text(f"{PRELUDE}\n{code}")
    return subprocess.run(
        [sys.executable, *before, str(path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


PRELUDE = """
import os, sys, json, traindx
def train(steps):
    import torch
    torch.set_num_threads(1)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(steps):
        loss = model(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def recordings(tmp_path: Path) -> list[Path]:
    return sorted(path for path in (tmp_path / ".traindx").iterdir() if path.is_dir())


def test_torch_may_come_later_and_an_uncaught_exception_ends_it(tmp_path: Path) -> None:
    done = script(
        tmp_path, "traindx.watch()\nassert 'torch' not in sys.modules\ntrain(12)\nraise ValueError('mine')"
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "ValueError: mine"
    (folder,) = recordings(tmp_path)
    assert folder.name.startswith("train-")
    assert ended(folder)["how"] == "exception"
    facts = json.loads((folder / "run.json").read_text())
    assert facts["script"]["path"] == str(tmp_path / "train.py")
    assert facts["command"].startswith("python ")
    assert len(run_of(folder).series["loss"]) == 12


def test_under_traindx_run_it_joins(tmp_path: Path) -> None:
    code = (
        "with traindx.watch() as watch:\n    train(6)\n"
        "assert traindx.log(score=3)\ntraindx.watch().stop()\ntrain(4)\nprint(watch.folder)"
    )
    done = script(tmp_path, code, "-m", "traindx", "run", "--quiet")
    assert done.returncode == 0, done.stderr
    (folder,) = recordings(tmp_path)
    assert done.stdout.strip() == str(folder)
    assert ended(folder)["how"] == "finished"
    first, second = traindx.read(folder).runs
    assert "score" in first.series
    assert (first.last_step, second.last_step) == (6, 4)
    assert sum(b'"ended"' in line for line in (folder / "rank-0.jsonl").read_bytes().splitlines()) == 1


def test_a_forked_child_leaves_the_recording_alone(tmp_path: Path) -> None:
    code = """
watch = traindx.watch()
train(5)
child = os.fork()
if child == 0:
    train(3)
    print("from the child")
    sys.exit(0)
os.waitpid(child, 0)
train(4)
"""
    done = script(tmp_path, code, "-W", "ignore")
    assert done.returncode == 0, done.stderr
    (folder,) = recordings(tmp_path)
    text = (folder / "rank-0.jsonl").read_text()
    assert text.count('"recording"') == 1
    assert text.count('"ended"') == 1
    assert "from the child" not in text
    assert ended(folder)["how"] == "finished"


@pytest.mark.parametrize("given", ["", "object()"])
def test_without_torch_it_records_what_is_printed(tmp_path: Path, given: str) -> None:
    done = script(tmp_path, f"sys.modules['torch'] = sys.modules['keras'] = None\ntraindx.watch({given})")
    assert done.returncode == 0, done.stderr
    assert "torch" not in done.stderr
    assert recordings(tmp_path)


def test_watching_loads_neither_the_diagnosis_nor_numpy(tmp_path: Path) -> None:
    code = "traindx.watch()\ntraindx.log(a=1)\nprint(*sorted(sys.modules))"
    loaded = set(script(tmp_path, code).stdout.split())
    assert "traindx.observe.watch" in loaded
    assert not loaded & {"numpy", "torch", "rich", "traindx.engine", "traindx.logs.find", "traindx.report"}
