from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

import traindx
from tests.readers.tape import STARTED, Tape
from tests.readers.truth import assert_logged, only_run
from traindx.core.nouns import Event, Run


def record(folder: Path, rank: int, *rows: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"rank-{rank}.jsonl").write_text("".join(rows))


def test_recording(tmp_path: Path) -> None:
    folder = tmp_path / ".traindx" / "run-1"
    record(
        folder,
        0,
        '{"t": 1731696000.0, "step": 0, "loss": 2.5, "lr": 0.1}\n',
        '{"t": 1731696001.0, "event": "overflow", "text": "scale halved", "step": 1}\n',
        '{"t": 1731696002.0, "step": 1, "loss": NaN, "lr": null}\n',
        '{"t": 1731696003.0, "step": 2, "loss": -Infinity}\n',
        '{"t": 1731696004.0, "step": 3, "lo',
    )
    record(folder, 1, '{"t": 1731696000.5, "step": 0, "loss": 3.5}\n')
    run_json = {"version": 1, "name": "run-1", "config": {"lr": 0.1, "optimizer": "adamw"}}
    (folder / "run.json").write_text(json.dumps(run_json))
    run = only_run(traindx.read(str(tmp_path)))
    assert run.format == "recording"
    nan, inf = float("nan"), float("inf")
    assert_logged(
        run,
        {"loss": [(0, 2.5), (1, nan), (2, -inf)], "lr": [(0, 0.1)], "loss/rank1": [(0, 3.5)]},
    )
    assert run.settings["optimizer"] == "adamw"
    assert [(e.kind, e.text, e.step) for e in run.events] == [("overflow", "scale halved", 1.0)]
    times = run.series["loss"].times
    assert times is not None
    assert times.tolist() == [1731696000.0, 1731696002.0, 1731696003.0]


def test_newer_version_is_said(tmp_path: Path) -> None:
    folder = tmp_path / ".traindx" / "r"
    record(folder, 0, '{"t": 1, "step": 0, "loss": 1}\n')
    (folder / "run.json").write_text('{"version": 9, "config": {}}')
    run = only_run(traindx.read(str(tmp_path)))
    assert any("newer" in note.text for note in run.notes)


def test_broken_run_json_does_not_matter(tmp_path: Path) -> None:
    folder = tmp_path / ".traindx" / "r"
    record(folder, 0, '{"t": 1, "step": 0, "loss": 1}\n')
    (folder / "run.json").write_text("{")
    assert only_run(traindx.read(str(tmp_path))).series["loss"].values.tolist() == [1.0]


def recorded(tmp_path: Path) -> Tape:
    return Tape(tmp_path / ".traindx" / "r")


def points(run: Run, name: str) -> list[tuple[float, float]]:
    series = run.series[name]
    return list(zip(series.steps.tolist(), series.values.tolist(), strict=True))


def test_blocks_of_rows(tmp_path: Path) -> None:
    tape = recorded(tmp_path)
    tape.rows(3, loss=[2.5, float("nan"), 1.5], lr=0.1, grad_norm=[1.0, None, None])
    tape.rows(2, loss=[1.4, float("-inf")], lr=[0.1, 0.05])
    tape.line(**{"val/loss": 1.25})
    tape.end()
    run = only_run(traindx.read(tape.folder))
    nan, inf = float("nan"), float("inf")
    assert_logged(
        run,
        {
            "loss": [(1, 2.5), (2, nan), (3, 1.5), (4, 1.4), (5, -inf)],
            "lr": [(1, 0.1), (2, 0.1), (3, 0.1), (4, 0.1), (5, 0.05)],
            "grad_norm": [(1, 1.0)],
            "val/loss": [(5, 1.25)],
        },
    )
    times = run.series["loss"].times
    assert times is not None
    np.testing.assert_allclose(times, STARTED + np.array([0.1, 0.2, 0.3, 0.4, 0.5]))
    assert run.axis == "step"
    assert (run.events, run.notes) == ((), ())


def test_rows_by_column(tmp_path: Path) -> None:
    """Columns are named once; what does not fit the names, or comes before them, is skipped."""
    tape = recorded(tmp_path)
    tape.bare({"rows": [[0.1], [1], [9.0]]})
    tape.bare({"columns": ["t", "step", "loss", "lr"]})
    tape.bare({"rows": [[0.2, 0.3], [2, 3], [1.5, None], 0.1]})
    tape.bare({"rows": [[0.4], [4], [9.0]]})
    tape.bare({"columns": ["t", "step", "grad_norm"]})
    tape.bare({"rows": [[0.5], [5], [2.5]]})
    run = only_run(traindx.read(tape.folder))
    assert_logged(run, {"loss": [(2, 1.5)], "lr": [(2, 0.1), (3, 0.1)], "grad_norm": [(5, 2.5)]})


def test_samples_become_series_of_layers(tmp_path: Path) -> None:
    tape = recorded(tmp_path)
    tape.names(layer=["conv1", "fc"], activation=["relu1"])
    tape.rows(1, loss=[2.0])
    tape.sample(layer={"grad_norm": [1.0, 2.0]}, activation={"activation_zero_share": [0.5]})
    tape.rows(1, loss=[1.9])
    tape.names(layer=["conv1", "bn", "fc"])
    tape.sample(layer={"grad_norm": [3.0, None, float("nan")]}, input={"mean": 0.25, "shape": "8x3"})
    tape.end()
    run = only_run(traindx.read(tape.folder))
    assert points(run, "grad_norm/conv1") == [(1, 1.0), (2, 3.0)]
    assert "grad_norm/bn" not in run.series
    np.testing.assert_array_equal(run.series["grad_norm/fc"].values, [2.0, float("nan")])
    assert points(run, "activation_zero_share/relu1") == [(1, 0.5)]
    assert points(run, "input/mean") == [(2, 0.25)]
    assert "input/shape" not in run.series


def test_samples_without_names_and_longer_than_them(tmp_path: Path) -> None:
    tape = recorded(tmp_path)
    tape.rows(1, loss=[2.0])
    tape.sample(layer={"grad_norm": [1.0, 2.0]})
    tape.names(layer=["a", "a"])
    tape.rows(1, loss=[2.0])
    tape.sample(layer={"grad_norm": [3.0, 4.0, 5.0]})
    tape.rows(1, loss=[2.0])
    tape.sample(layer={"grad_norm": [6.0]})
    run = only_run(traindx.read(tape.folder))
    assert points(run, "layer/grad_norm/0") == [(1, 1.0)]
    assert points(run, "grad_norm/a") == [(2, 3.0), (3, 6.0)]
    assert points(run, "grad_norm/a#2") == [(2, 4.0)]


def test_matrix_of_samples_is_the_slow_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    values = rng.lognormal(size=(40, 7)).round(4)
    layers = [f"block.{n}.linear" for n in range(7)]
    tape = recorded(tmp_path)
    tape.names(layer=layers)
    for row in values:
        tape.rows(3, loss=[1.0, 1.0, 1.0])
        tape.sample(layer={"update_ratio": row.tolist()})
    run = only_run(traindx.read(tape.folder))
    for number, layer in enumerate(layers):
        assert points(run, f"update_ratio/{layer}") == [
            (3 * (at + 1), float(row[number])) for at, row in enumerate(values)
        ]


RECORDED = (
    *("loss", "val/loss", "lr", "lr/group1", "grad_norm", "grad_norm_clipped", "loss_scale", "skipped_steps"),
    *("step_s", "data_wait_s", "forward_s", "backward_s", "optimizer_s", "rss_bytes", "gpu_mem_bytes"),
    *("loss/optimizer_d", "loss/test_head", "replica_checksum"),
)
LAYERS = (
    "layer4.1.conv2",
    "total",
    "memory_bank",
    "lr_encoder",
    "train.loss",
    "rank1",
    "reward@mean",
    "x@y/0",
)
STATISTICS = (
    *("grad_norm", "grad_zero_share", "grad_nonfinite", "weight_norm", "update_ratio", "activation_mean"),
    *("activation_zero_share", "activation_dead_share", "activation_saturated_share", "activation_std"),
)


def test_names_stay_as_recorded(tmp_path: Path) -> None:
    tape = recorded(tmp_path)
    tape.names(layer=list(LAYERS))
    for value in (1.0, 2.0, 5.0):
        tape.rows(1, **dict.fromkeys(RECORDED, value))
        tape.sample(layer={s: [value] * len(LAYERS) for s in STATISTICS}, output={"mean": 1.0, "std": 2.0})
    run = only_run(traindx.read(tape.folder))
    layers = {f"{statistic}/{layer}" for statistic in STATISTICS for layer in LAYERS}
    assert set(run.series) == {*RECORDED, *layers, "output/mean", "output/std"}
    assert run.traits == frozenset()
    assert run.series["loss"].goal == "lower"


def test_facts_become_settings_and_notes(tmp_path: Path) -> None:
    tape = recorded(tmp_path)
    tape.rows(2, loss=[2.0, 1.0])
    tape.end(
        config={"lr": 0.1, "optimizer": "sgd", "betas": [0.9, 0.99]},
        world_size=2,
        device="cpu",
        command=["train.py", "--epochs", "3"],
        script={"path": "/w/train.py", "sha256": "0"},
        libraries={"torch": "2.13.0", "peft": "0.1"},
        unseen=[{"what": "layers", "why": "compiled"}],
        dropped=12,
        links=["/w/runs/events.out.tfevents.1"],
        models=[{"layers": 3}],
    )
    run = only_run(traindx.read(tape.folder))
    assert run.settings == {"lr": 0.1, "optimizer": "sgd", "device": "cpu", "world_size": 2}
    assert run.config["command"] == "train.py --epochs 3"
    assert run.config["script"] == "/w/train.py"
    assert run.config["libraries"] == "torch 2.13.0, peft 0.1"
    notes = [note.text for note in run.notes]
    assert notes[0] == "12 lines could not be written: the recording has gaps"
    assert "not measured: layers (compiled)" in notes
    assert any("events.out.tfevents.1" in note for note in notes)


@pytest.mark.parametrize(
    ("how", "text", "kind"),
    [
        ("exception", "RuntimeError: shapes do not fit", "exception"),
        ("exception", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", "out_of_memory"),
        (
            "exception",
            "RuntimeError: [enforce fail] DefaultCPUAllocator: can't allocate memory",
            "out_of_memory",
        ),
        ("interrupted", "", "interrupted"),
        ("exit", "exit code 3", "exit"),
        ("stopped", "stopped after 2 steps, as asked", "stopped"),
    ],
)
def test_ends(tmp_path: Path, how: str, text: str, kind: str) -> None:
    tape = recorded(tmp_path)
    tape.rows(2, loss=[2.0, 1.0])
    if how == "exception":
        tape.event("exception", text)
    tape.end(how, text)
    run = only_run(traindx.read(tape.folder))
    assert run.events == (Event(kind, text or how, 2.0),)
    assert run.notes == ()


def test_end_is_known_from_either_file(tmp_path: Path) -> None:
    for number, (lines, facts) in enumerate([(True, False), (False, True)]):
        tape = Tape(tmp_path / f"{number}" / ".traindx" / "r")
        tape.rows(2, loss=[2.0, 1.0])
        if lines:
            tape.event("ended", "ValueError: no", how="exception")
        if facts:
            tape.facts(ended={"how": "exception", "text": "ValueError: no", "step": 2})
        run = only_run(traindx.read(tape.folder))
        assert run.events == (Event("exception", "ValueError: no", 2.0),)
        assert run.notes == ()


def test_killed_run_is_noted(tmp_path: Path) -> None:
    tape = recorded(tmp_path)
    tape.facts()
    tape.rows(2, loss=[2.0, 1.0])
    assert [note.text for note in only_run(traindx.read(tape.folder)).notes] == [
        "the recording has no end: the training still runs, or it was killed"
    ]


def test_events_and_what_the_recording_says_of_itself(tmp_path: Path) -> None:
    tape = recorded(tmp_path)
    tape.rows(2, loss=[2.0, 1.0])
    tape.event("nonfinite", "NaN from log in loss", module="head")
    tape.event("mode", "", module="bn", training=False)
    tape.event("recording_gap", "5 lines could not be written: no space left on device")
    tape.event("probe_failed", "layers: ValueError: x")
    tape.end(unseen={"layers": "the probe failed"})
    run = only_run(traindx.read(tape.folder))
    assert run.events == (
        Event("nonfinite", "NaN from log in loss", 2.0),
        Event("mode", "module=bn, training=False", 2.0),
    )
    assert [note.text for note in run.notes] == [
        "not measured: layers (the probe failed)",
        "5 lines could not be written: no space left on device",
    ]


def test_ranks_side_by_side(tmp_path: Path) -> None:
    tapes = [Tape(tmp_path / ".traindx" / "r", rank) for rank in range(3)]
    for tape in tapes:
        tape.names(layer=["fc"])
        tape.rows(4, loss=[2.0, 1.9, 1.8, 1.7], loss_scale=8.0, grad_norm_clipped=1.0)
        tape.sample(layer={"grad_norm": [1.0]})
        tape.line(replica_checksum=100.0 + 1e-7 * tape.rank)
        tape.event("mode", "all modules in training mode")
    for tape in tapes:
        tape.rows(2 - (tape.rank == 2), loss=1.5)
        tape.line(replica_checksum=100.0 if tape.rank != 1 else 100.5)
        tape.end(*(("exception", "RuntimeError: Connection closed by peer") if tape.rank == 2 else ()))
    run = only_run(traindx.read(tapes[0].folder))
    assert {name for name in run.series if name.endswith("/rank1")} == {
        "loss/rank1",
        "loss_scale/rank1",
        "grad_norm_clipped/rank1",
        "grad_norm/fc/rank1",
        "replica_checksum/rank1",
    }
    assert points(run, "loss/rank2")[-1] == (5.0, 1.5)
    apart, *_ = [event for event in run.events if event.kind == "replicas_differ"]
    assert apart.step == 6.0
    assert "rank 1 differ from those of rank 0 at 1 of 2 samples" in apart.text
    assert "100 and 100.5" in apart.text
    assert Event("exception", "rank 2: RuntimeError: Connection closed by peer", 5.0) in run.events
    assert [event for event in run.events if event.kind == "mode"] == [
        Event("mode", "all modules in training mode", 4.0)
    ]
    assert [note.text for note in run.notes] == [
        "the ranks stop at different steps: rank 0 at 6, rank 1 at 6, rank 2 at 5"
    ]


def test_a_process_that_only_starts_others(tmp_path: Path) -> None:
    """Rank 0 takes no step: the first that does gives the plain names."""
    tapes = [Tape(tmp_path / ".traindx" / "r", rank) for rank in range(3)]
    tapes[0].line(rss_bytes=1e9)
    tapes[0].prints("2 processes started\n")
    for tape in tapes[1:]:
        for epoch in range(1, 4):
            tape.rows(2, loss=float(tape.rank))
            tape.prints(f"epoch {epoch} val_loss {tape.rank / epoch:.3f}\n")
        tape.end()
    tapes[0].end("exception", "ProcessRaisedException: process 1 terminated")
    run = only_run(traindx.read(tapes[0].folder))
    assert points(run, "loss")[-1] == (6, 1.0)
    assert points(run, "loss/rank2")[-1] == (6, 2.0)
    assert points(run, "rss_bytes/rank0") == [(0, 1e9)]
    assert points(run, "val/loss")[0] == (2, 1.0)
    assert [event.text for event in run.events] == ["rank 0: ProcessRaisedException: process 1 terminated"]
    assert run.notes == ()


def test_ranks_that_only_write_at_different_moments(tmp_path: Path) -> None:
    """While a training runs, one rank has flushed later than the other."""
    for rank, steps in ((0, 12), (1, 9)):
        tape = Tape(tmp_path / ".traindx" / "r", rank)
        tape.rows(steps, loss=1.5)
    run = only_run(traindx.read(tape.folder))
    assert not any("different steps" in note.text for note in run.notes)


def test_second_first_line_goes_on(tmp_path: Path) -> None:
    tape = recorded(tmp_path)
    tape.rows(2, loss=[2.0, 1.9])
    tape.bare({"recording": 2, "started": STARTED, "rank": 0, "pid": 1})
    tape.rows(2, loss=[1.8, 1.7])
    run = only_run(traindx.read(tape.folder))
    assert points(run, "loss") == [(1, 2.0), (2, 1.9), (3, 1.8), (4, 1.7)]
    times = run.series["loss"].times
    assert times is not None
    assert (np.diff(times) > 0).all()


def test_another_start_in_the_same_file_is_another_run(tmp_path: Path) -> None:
    first = recorded(tmp_path)
    first.rows(2, loss=[2.0, 1.9])
    first.end("exception", "ValueError: x")
    second = Tape(first.folder, started=STARTED + 3600)
    second.rows(3, loss=[3.0, 2.9, 2.8])
    second.end()
    runs = traindx.read(first.folder).runs
    assert [len(run.series["loss"]) for run in runs] == [2, 3]
    assert [event.kind for event in runs[0].events] == ["exception"]
    assert runs[1].events == ()


def test_trainings_of_one_process_are_several_runs(tmp_path: Path) -> None:
    """Folds: steps count anew, and what was printed belongs to the fold it was printed in."""
    tape = recorded(tmp_path)
    tape.prints("batch_size: 16\n")
    for fold in range(3):
        if fold:
            tape.event("new_training", "Adam1 trains another model; steps are counted anew")
            tape.step = 0
        tape.names(layer=[f"fold{fold}"])
        for epoch in range(1, 4):
            tape.rows(4, loss=float(fold + epoch))
            tape.sample(layer={"grad_norm": [1.0]})
            tape.prints(f"fold {fold} epoch {epoch} val_loss {fold + epoch / 10:.2f}\n")
    tape.end("interrupted", config={"lr": 0.1})
    runs = traindx.read(tape.folder).runs
    assert [points(run, "loss")[0] for run in runs] == [(1, 1.0), (1, 2.0), (1, 3.0)]
    assert [points(run, "val/loss")[-1] for run in runs] == [(12, 0.3), (12, 1.3), (12, 2.3)]
    assert [f"grad_norm/fold{n}" in run.series for n, run in enumerate(runs)] == [True] * 3
    assert [dict(run.settings) for run in runs] == [{"lr": 0.1, "batch_size": 16}] * 3
    assert [[event.kind for event in run.events] for run in runs] == [
        [],
        ["new_training"],
        ["interrupted", "new_training"],
    ]


def test_several_recordings_are_several_runs(tmp_path: Path) -> None:
    for name in ("a", "b"):
        tape = Tape(tmp_path / ".traindx" / name)
        tape.rows(3, loss=[2.0, 1.9, 1.8 if name == "a" else 1.7])
        tape.end()
        (tape.folder / ".run-x1y2").write_text('{"version": 2, "config": {"lr": ')
        (tape.folder / "stop").write_text("step 3: loss 1.0\n" * 9)
    reading = traindx.read(tmp_path)
    assert [run.path.rpartition("/")[2] for run in reading.runs] == ["a", "b"]
    assert reading.skipped == ()


def test_every_prefix_of_a_recording_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is written: torn anywhere, `run.json` missing or half there."""
    monkeypatch.setenv("TRAINDX_DEBUG", "1")
    tape = recorded(tmp_path)
    tape.names(layer=["a", "b"])
    tape.prints("lr: 0.5\n")
    for step in range(2):
        tape.rows(2, loss=[2.0 - step, 1.5 - step], lr=0.5)
        tape.sample(layer={"grad_norm": [1.0, 2.0]}, input={"mean": 0.0})
        tape.prints(f"epoch {step} val loss {1.0 - step / 4:.2f}\n")
    tape.event("nonfinite", "x")
    tape.end(config={"lr": 0.5})
    whole, facts = tape.path.read_bytes(), (tape.folder / "run.json").read_bytes()
    points_read = 0
    for cut in range(len(whole) + 1):
        tape.path.write_bytes(whole[:cut])
        (tape.folder / "run.json").write_bytes(facts[: cut % len(facts)])
        for run in traindx.read(tape.folder).runs:
            steps = len(run.series["loss"]) if "loss" in run.series else 0
            assert steps >= points_read
            points_read = steps
            assert not any("torn" in note.text for note in run.notes)
    assert points_read == 4


def test_nothing_but_a_crash(tmp_path: Path) -> None:
    tape = recorded(tmp_path)
    tape.end("exception", "FileNotFoundError: data.csv")
    reading = traindx.read(tape.folder)
    (run,) = reading.runs
    assert not run.series
    assert run.notes[0].text == "no optimizer step was recorded; it ended with FileNotFoundError: data.csv"
    (problem,) = traindx.diagnose(run).problems
    assert (problem.symptom, problem.hypotheses) == ("crash", ())
    assert "FileNotFoundError: data.csv" in problem.summary


@pytest.mark.parametrize("per_line", [1, 50])
def test_many_steps_are_read_quickly(tmp_path: Path, per_line: int) -> None:
    tape = recorded(tmp_path)
    names = ("loss", "grad_norm", "step_s", "data_wait_s", "forward_s", "backward_s", "optimizer_s")
    for _ in range(20_000 // per_line):
        tape.rows(per_line, **dict.fromkeys(names, [0.123456] * per_line), lr=0.1)
    began = time.process_time()
    run = only_run(traindx.read(tape.folder))
    assert len(run.series["loss"]) == 20_000
    assert time.process_time() - began < 2.0
