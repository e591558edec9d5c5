"""Trainings in more than one process: workers, forks, spawned children, ranks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import traindx
from tests.run_scripts.calling import SCRIPTS, Result, facts, lines, printed, recorded, recording

pytest.importorskip("torch")
TRAIN = SCRIPTS / "train.py"
STEPS = 6
STEPS_ASKED = 3
WAYS: dict[str, tuple[object, ...]] = {
    "workers": ("--quiet", TRAIN, "workers"),
    "children": ("--quiet", TRAIN, "children"),
    "spawn": ("--quiet", TRAIN, "spawn"),
    "ranks": (
        *("--steps", STEPS_ASKED, "--json", "a.json"),
        *("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", TRAIN, "ranks"),
    ),
}
Runs = dict[str, tuple[Path, Future[Result]]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    """All of them, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        places = {way: tmp_path_factory.mktemp(way) for way in WAYS}
        yield {way: (place, pool.submit(recorded, place, *WAYS[way])) for way, place in places.items()}


def column(path: Path, name: str) -> list[Any]:
    """A column of all blocks of rows."""
    found: list[Any] = []
    names: list[str] = []
    for line in lines(path):
        names = line.get("columns", names)
        if "rows" in line:
            block = dict(zip(names, line["rows"], strict=True))
            same = [block[name]] * len(block["step"])
            found += block[name] if isinstance(block[name], list) else same
    return found


def steps(path: Path) -> list[int]:
    return column(path, "step")


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("rank-*.jsonl"))


def test_workers_that_load_data_leave_no_trace(runs: Runs) -> None:
    place, run = runs["workers"]
    result = run.result()
    assert (result.code, result.err) == (0, "")
    workers = sorted(line for line in result.out.splitlines() if line.startswith("worker"))
    assert workers == ["worker 0 is ForkProcess", "worker 0 is SpawnProcess", "worker 1 is ForkProcess"]
    folder = recording(place)
    assert files(folder) == ["rank-0.jsonl"]
    own = [line for line in result.out.splitlines(keepends=True) if not line.startswith("worker")]
    assert printed(folder / "rank-0.jsonl") == "".join(own)
    assert steps(folder / "rank-0.jsonl")[:STEPS] == list(range(1, STEPS + 1))


@pytest.mark.parametrize(("way", "count"), [("children", 3), ("spawn", 2)])
def test_children_that_train_have_files_of_their_own(runs: Runs, way: str, count: int) -> None:
    place, run = runs[way]
    result = run.result()
    assert (result.code, result.err) == (0, "")
    folder = recording(place)
    assert files(folder) == [f"rank-{number}.jsonl" for number in range(count + 1)]
    first = folder / "rank-0.jsonl"
    assert printed(first) == "the first process starts\nthe first process ends\n"
    assert steps(first) == []
    for rank in range(count):
        mine = folder / f"rank-{rank + 1}.jsonl"
        assert steps(mine) == list(range(1, STEPS + 1))
        assert printed(mine).startswith(f"rank {rank} done: loss ")
        assert printed(mine).strip() in result.out
        assert column(mine, "lr")[0] == 0.01 * (rank + 1)
    told = facts(folder)
    assert told["ended"]["how"] == "finished"
    assert told["command"] == f"python {TRAIN} {way}"
    assert told["config"]["lr"] == 0.01


def test_ranks_share_a_recording_and_stop_cleanly(runs: Runs) -> None:
    """`traindx run -m torch.distributed.run train.py`: the agent starts `-m traindx run train.py`."""
    place, run = runs["ranks"]
    result = run.result()
    assert (result.code, result.out) == (0, 2 * "the first process starts\n"), result.err
    folder = recording(place)
    assert files(folder) == ["rank-0.jsonl", "rank-1.jsonl"]
    for rank in (0, 1):
        assert steps(folder / f"rank-{rank}.jsonl") == list(range(1, STEPS_ASKED + 1))
    told = facts(folder)
    assert (told["world_size"], told["ended"]["how"]) == (2, "stopped")
    assert result.err.count("traindx: recording to") == 1
    assert result.err.count(f"traindx: stopped after {STEPS_ASKED} steps, as asked") == 1
    assert result.err.count(f".traindx/{folder.name} · ") == 1
    assert (place / "a.json").exists()


@pytest.mark.parametrize(("way", "count"), [("children", STEPS), ("spawn", STEPS), ("ranks", STEPS_ASKED)])
def test_recording_is_read_as_one_training(runs: Runs, way: str, count: int) -> None:
    place, run = runs[way]
    run.result()
    (training,) = traindx.read(recording(place)).runs
    assert len(training.series["loss"]) == count
    (other,) = [one for name, one in training.series.items() if name in ("loss/rank1", "loss/rank2")][:1]
    assert len(other) == count


def test_words_of_an_agent() -> None:
    pytest.importorskip("torch")
    from traindx.observe.agent import is_agent, with_traindx
    from traindx.observe.program import Program

    ours = ("--steps", "3")
    for before, after in [
        ("--nproc-per-node 2 train.py -m x", "--nproc-per-node 2 -m traindx run --steps 3 train.py -m x"),
        ("--standalone -m pkg.train a", "--standalone -m traindx run --steps 3 -m pkg.train a"),
        ("--module pkg.train", "-m traindx run --steps 3 -m pkg.train"),
        ("--no-python ./train.sh", None),
        ("--help", None),
    ]:
        agent = Program("module", "torch.distributed.run", tuple(before.split()))
        told = with_traindx(agent, ours)
        assert (told and " ".join(told.args)) == after
        assert is_agent(agent)
    assert is_agent(Program("script", "/usr/bin/torchrun"))
    if find_spec("accelerate") is not None:
        launch = Program("script", "/usr/bin/accelerate", ("launch", "--cpu", "train.py", "a"))
        told = with_traindx(launch, ours)
        assert is_agent(launch)
        assert told is not None
        assert " ".join(told.args) == "launch --cpu -m traindx run --steps 3 train.py a"
        assert not is_agent(Program("script", "/usr/bin/accelerate", ("config",)))
    assert not is_agent(Program("script", "train.py"))
    assert not is_agent(Program("module", "torch.distributed"))


def test_lines_wait_until_a_process_trains(tmp_path: Path) -> None:
    """A child that prints but never steps makes no file, and keeps no more than so much."""
    from traindx.observe.children import Waiting
    from traindx.observe.recorder import Recorder

    recorder = Recorder(tmp_path, 1, name="x", budget=0.01, internals=True, steps=None)
    waiting = recorder.journal = Waiting(recorder)
    recorder.output("out", "hello\n")
    recorder.flush()
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "rank-1.jsonl").touch()
    recorder.step = 1
    recorder.row({"loss": 2.0})
    recorder.flush()
    recorder.row({"loss": 1.0})
    recorder.flush()
    assert recorder.journal is not waiting
    assert files(tmp_path) == ["rank-1.jsonl", "rank-2.jsonl"]
    found = lines(tmp_path / "rank-2.jsonl")
    assert found[0]["pid"] == os.getpid()
    assert [line.get("out") or line.get("loss") for line in found[1:]] == ["hello\n", 2.0, 1.0]


def test_spawned_child_runs_where_traindx_cannot_be_imported(tmp_path: Path) -> None:
    from multiprocessing import spawn
    from types import SimpleNamespace

    from traindx.observe.children import _watch_spawn

    module = SimpleNamespace(get_command_line=spawn.get_command_line)
    _watch_spawn(module)
    words = module.get_command_line(tracker_fd=1, pipe_handle=2)
    code = next(word for word in words if "spawn_main" in str(word))
    assert code.splitlines()[-1] == "spawn_main(tracker_fd=1, pipe_handle=2)"
    stand_in = tmp_path / "traindx" / "observe"
    stand_in.mkdir(parents=True)
    for package in (stand_in, stand_in.parent):
        (package / "__init__.py").touch()
    (stand_in / "children.py").write_text("raise ImportError\n")
    code = code.replace("spawn_main(tracker_fd=1, pipe_handle=2)", "print(spawn_main.__module__)")
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "multiprocessing.spawn\n"


LIGHTNING = """\
import lightning as L
import torch
from torch.utils.data import DataLoader, TensorDataset


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, at):
        return torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


data = DataLoader(TensorDataset(torch.randn(48, 4), torch.randn(48, 1)), batch_size=4)
trainer = L.Trainer(max_epochs=1, accelerator="cpu", devices=2, strategy="ddp", logger=False,
                    enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(Net(), data)
"""


@pytest.mark.skipif(find_spec("lightning") is None, reason="needs lightning")
def test_both_ranks_of_lightning_s_own_launcher(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LIGHTNING)
    recorded(tmp_path, "--quiet", "train.py")
    folder = recording(tmp_path)
    assert files(folder) == ["rank-0.jsonl", "rank-1.jsonl"]
    assert [steps(folder / name) for name in files(folder)] == [list(range(1, STEPS + 1))] * 2
    assert facts(folder)["config"]["epochs"] == 1
