"""Folders of logs: which files make a run, which are copies, which are noise."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import traindx

SAMPLE_EVENTS = next((Path(__file__).parent / "samples" / "tensorboard").rglob("events.out*"))
LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2\nsize 12345\n"


def csv(path: Path, rows: int = 10, scale: float = 1.0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("step,loss\n" + "".join(f"{i},{scale / (i + 1)}\n" for i in range(rows)))
    return path


def state(path: Path, rows: int, scale: float = 1.0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    history = [
        {"step": i, "epoch": i / 10, "loss": scale / (i + 1), "learning_rate": 1e-4} for i in range(1, rows)
    ]
    path.write_text(json.dumps({"log_history": history, "global_step": rows}))
    return path


def test_checkpoint_copies_count_once(tmp_path: Path) -> None:
    for n in (5, 10, 20):
        state(tmp_path / "out" / f"checkpoint-{n}" / "trainer_state.json", n)
    state(tmp_path / "out" / "trainer_state.json", 20)
    state(tmp_path / "other" / "trainer_state.json", 20, scale=2.0)
    found = traindx.read(tmp_path)
    assert sorted(len(run.series["loss"]) for run in found.runs) == [19, 19]
    assert len({run.path for run in found.runs}) == 2


def test_every_run_of_a_tree_is_found(tmp_path: Path) -> None:
    for n in range(5):
        csv(tmp_path / f"run{n}" / "metrics.csv", scale=n + 1.0)
    assert len(traindx.read(tmp_path).runs) == 5


def test_identical_copies_count_once(tmp_path: Path) -> None:
    csv(tmp_path / "a.csv")
    csv(tmp_path / "b.csv")
    (run,) = traindx.read(tmp_path).runs
    assert len(run.files) == 2


def test_noise_is_named_and_skipped(tmp_path: Path) -> None:
    csv(tmp_path / "good.csv")
    (tmp_path / "trainer_state.json").write_text(LFS)
    (tmp_path / "debug-internal.log").write_text("step 1 loss 3\n" * 20)
    (tmp_path / "empty.csv").touch()
    found = traindx.read(tmp_path)
    assert len(found.runs) == 1
    reasons = {Path(note.path).name: note.text for note in found.skipped}
    assert "LFS" in reasons["trainer_state.json"]
    assert "logger" in reasons["debug-internal.log"]
    assert reasons["empty.csv"] == "empty file"


def test_links_and_loops_do_not_double(tmp_path: Path) -> None:
    csv(tmp_path / "runs" / "one" / "log.csv")
    (tmp_path / "runs" / "latest").symlink_to(tmp_path / "runs" / "one")
    (tmp_path / "runs" / "one" / "loop").symlink_to(tmp_path)
    (tmp_path / "runs" / "gone").symlink_to(tmp_path / "nowhere")
    found = traindx.read(tmp_path)
    assert len(found.runs) == 1


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    found = traindx.read(tmp_path / "nope.csv")
    assert [note.text for note in found.skipped] == ["it does not exist"]
    assert traindx.read(tmp_path).runs == ()
    assert [note.text for note in traindx.read("").skipped] == ["the path is empty"]


def test_pipes_and_sockets_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.log")
    csv(tmp_path / "good.csv")
    assert len(traindx.read(tmp_path).runs) == 1


@pytest.mark.parametrize("cut", [0, 5, 100])
def test_a_torn_gzip_gives_what_it_holds(cut: int, tmp_path: Path) -> None:
    plain = "step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(5000))
    packed = gzip.compress(plain.encode())
    (tmp_path / "log.csv.gz").write_bytes(packed[: len(packed) - cut])
    (run,) = traindx.read(tmp_path / "log.csv.gz").runs
    assert len(run.series["loss"]) > (4999 if not cut else 3000)
    assert bool(run.notes) == bool(cut)


def test_gzip_members_one_after_the_other(tmp_path: Path) -> None:
    whole = gzip.compress(b"step,loss\n0,3\n1,2\n") + gzip.compress(b"2,1\n3,0.5\n4,0.2\n")
    (tmp_path / "log.csv.gz").write_bytes(whole)
    (run,) = traindx.read(tmp_path / "log.csv.gz").runs
    assert run.series["loss"].values.tolist() == [3, 2, 1, 0.5, 0.2]


def test_standard_input() -> None:
    code = "import traindx; run, = traindx.read('-').runs; print(run.format, len(run.series['loss']))"
    text = "".join(f"step {i} loss {1 / (i + 1)}\n" for i in range(30))
    done = subprocess.run(
        [sys.executable, "-c", code], input=text, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["text", "30"]


def test_mapping_reaches_the_series(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("step,loss,weird\n" + "".join(f"{i},{i},{i * 2}\n" for i in range(9)))
    (run,) = traindx.read(tmp_path / "log.csv", mapping={"loss": "weird"}).runs
    assert run.series["loss"].source == "weird"


def table(folder: Path, *columns: str) -> Path:
    """Twelve falling rows under a header."""
    rows = [",".join([str(i)] + [f"{n + 9 / (i + 1)}" for n in range(len(columns))]) for i in range(12)]
    (folder / "log.csv").write_text("\n".join([",".join(("step", *columns)), *rows]))
    return folder / "log.csv"


@pytest.mark.parametrize(
    ("columns", "sources"),
    [
        (("train_mse", "val_mse"), {"loss": "train_mse", "val/loss": "val_mse"}),
        (("mae", "mse"), {"loss": "mse", "mae": "mae"}),
        (("train_bce", "val_bce", "val_map"), {"loss": "train_bce", "val/loss": "val_bce"}),
        (("obj", "test_rmse"), {"loss": "obj", "val/rmse": "test_rmse"}),
        (("ppl", "nll"), {"loss": "nll", "perplexity": "ppl"}),
        (("neg_si_sdr",), {"loss": "neg_si_sdr"}),
        (("elbo",), {"loss": "elbo"}),
    ],
)
def test_what_is_minimised_is_the_loss(
    tmp_path: Path, columns: tuple[str, ...], sources: dict[str, str]
) -> None:
    (run,) = traindx.read(table(tmp_path, *columns)).runs
    assert {name: run.series[name].source for name in sources} == sources
    assert next(iter(run.series)) == "loss"
    loss = run.series["loss"]
    assert (loss.name, loss.goal, loss.derived) == ("loss", "lower", None)
    assert [note.text for note in run.notes] == [
        f"no column is called a loss: {loss.source} is read as the loss; --map loss=COLUMN names another"
    ]


@pytest.mark.parametrize(
    "columns",
    [
        ("mse", "val_loss"),
        ("mse", "box_loss", "cls_loss"),
        ("mse", "reward"),
        ("val_mse", "val_mae"),
        ("acc",),
    ],
)
def test_no_other_curve_is_the_loss(tmp_path: Path, columns: tuple[str, ...]) -> None:
    (run,) = traindx.read(table(tmp_path, *columns)).runs
    assert "loss" not in run.series
    assert not run.notes


def test_an_elbo_that_rises_is_no_loss(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("step,elbo\n" + "".join(f"{i},{i - 90}\n" for i in range(12)))
    (run,) = traindx.read(tmp_path / "log.csv").runs
    assert list(run.series) == ["elbo"]


def test_a_map_goes_before_what_is_minimised(tmp_path: Path) -> None:
    (run,) = traindx.read(table(tmp_path, "train MSE", "MAE"), mapping={"loss": "mae"}).runs
    assert {name: s.source for name, s in run.series.items()} == {"loss": "MAE", "mse": "train MSE"}
    (run,) = traindx.read(table(tmp_path, "a", "b"), mapping={"mse": "a"}).runs
    assert "loss" not in run.series


def test_memory_is_in_bytes(tmp_path: Path) -> None:
    (run,) = traindx.read(table(tmp_path, "loss", "mem_mb", "rss_gib")).runs
    assert run.series["gpu_mem_bytes"].values[0] == 10e6
    assert run.series["rss_bytes"].values[0] == 11 * 2.0**30


@pytest.mark.parametrize(
    ("column", "values", "name", "shares"),
    [
        ("gpu_util", "30 40 95", "gpu_busy_share", [0.3, 0.4, 0.95]),
        ("gpu_util", "0.3 0.4 0.95", "gpu_busy_share", [0.3, 0.4, 0.95]),
        ("GPU util %", "0.5 1 0.25", "gpu_busy_share", [0.005, 0.01, 0.0025]),
        ("gpu0_utilization", "30 40 95", "gpu_busy_share", [0.3, 0.4, 0.95]),
        ("memory %", "97 98 99", "gpu_mem_share", [0.97, 0.98, 0.99]),
        ("mem_share", "0.97 0.98 0.99", "gpu_mem_share", [0.97, 0.98, 0.99]),
    ],
)
def test_device_columns_are_shares(
    tmp_path: Path, column: str, values: str, name: str, shares: list[float]
) -> None:
    rows = "".join(f"{step},{1 / (1 + step)},{value}\n" for step, value in enumerate(values.split()))
    (tmp_path / "log.csv").write_text(f"step,loss,{column}\n{rows}")
    (run,) = traindx.read(tmp_path / "log.csv").runs
    assert run.series[name].values.tolist() == pytest.approx(shares)


def test_two_devices_keep_their_numbers(tmp_path: Path) -> None:
    (run,) = traindx.read(table(tmp_path, "loss", "gpu0_util", "gpu1_util")).runs
    assert {"gpu_busy_share/0", "gpu_busy_share/1"} <= set(run.series)


def test_device_shares_of_a_text_log(tmp_path: Path) -> None:
    lines = (
        f"step {i} | loss {2 / i:.3f} | GPU {30 + i}% | mem 81% | 1520 tok/s | 3.1 it/s\n"
        for i in range(1, 30)
    )
    (tmp_path / "train.log").write_text("".join(lines))
    (run,) = traindx.read(tmp_path / "train.log").runs
    assert run.series["gpu_busy_share"].values[0] == pytest.approx(0.31)
    assert run.series["gpu_mem_share"].values[-1] == pytest.approx(0.81)
    assert run.series["tokens_per_s"].values[0] == 1520


@pytest.mark.parametrize(
    ("train", "held_out", "noted"),
    [
        ("loss", "held-out nll", True),
        ("train loss", "heldout_loss", False),
        ("train_loss", "dev loss", False),
        ("nll", "dev nll", True),
        ("nll", "heldout", True),
    ],
)
def test_held_out_losses_are_validation_losses(
    tmp_path: Path, train: str, held_out: str, noted: bool
) -> None:
    (run,) = traindx.read(table(tmp_path, train, held_out)).runs
    assert {name: s.source for name, s in run.series.items()} == {"loss": train, "val/loss": held_out}
    assert bool(run.notes) == noted


def test_a_held_out_likelihood_is_no_second_validation_loss(tmp_path: Path) -> None:
    (run,) = traindx.read(table(tmp_path, "loss", "val_loss", "val_nll")).runs
    assert run.series["val/loss"].source == "val_loss"
    (run,) = traindx.read(table(tmp_path, "loss", "nll", "val_nll")).runs
    assert "val/loss" not in run.series


def test_held_out_lines_of_a_text_log(tmp_path: Path) -> None:
    lines = (f"step {i}: loss {2 / i:.3f}\n[held-out] step {i}: loss {3 / i:.3f}\n" for i in range(1, 30))
    (tmp_path / "train.log").write_text("".join(lines))
    (run,) = traindx.read(tmp_path / "train.log").runs
    assert run.series["val/loss"].values[:2].tolist() == [3.0, 1.5]


def test_hidden_nan_is_recognised(tmp_path: Path) -> None:
    rows = [{"step": i, "loss": 2.0, "grad_norm": 1.0, "learning_rate": 1e-4} for i in range(1, 5)]
    rows += [{"step": i, "loss": 0.0, "grad_norm": float("nan"), "learning_rate": 1e-4} for i in range(5, 9)]
    (tmp_path / "trainer_state.json").write_text(json.dumps({"log_history": rows}))
    (run,) = traindx.read(tmp_path).runs
    assert [(event.kind, event.step) for event in run.events] == [("nan_filter", 5.0)]


def test_trainings_of_one_file_are_never_copies(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("step,loss\n" + "0,3\n1,2\n2,1\n" * 4)
    assert len(traindx.read(tmp_path).runs) == 4


def test_a_path_given_twice_is_read_once(tmp_path: Path) -> None:
    path = csv(tmp_path / "log.csv")
    (run,) = traindx.read(path, path).runs
    assert run.files == (str(path),)


def test_equal_losses_do_not_make_copies(tmp_path: Path) -> None:
    for name, accuracy in (("a", 0.2), ("b", 0.9)):
        rows = "".join(f"{i},0.6931,{0.1 if i == 0 else accuracy}\n" for i in range(9))
        (tmp_path / f"{name}.csv").write_text("step,loss,acc\n" + rows)
    assert len(traindx.read(tmp_path).runs) == 2


def test_copies_of_every_history_are_found_and_noted(tmp_path: Path) -> None:
    for name, rows in (("a", 20), ("b", 20), ("c", 8)):
        text = "".join(f"{i},{'nan' if i == 0 else 1 / i},{0.5 if name == 'a' else i}\n" for i in range(rows))
        (tmp_path / f"{name}.csv").write_text("step,loss,acc\n" + text)
    found = traindx.read(tmp_path)
    assert len(found.runs) == 2
    (note,) = [note for run in found.runs for note in run.notes]
    assert "counted once" in note.text


def test_two_formats_of_one_folder_are_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From outside and from inside the folder."""
    text = "epoch,step,train_loss,val_loss\n" + "".join(f"{i},{i * 10},{3 - i / 9},\n" for i in range(9))
    folder = tmp_path / "version_0"
    folder.mkdir()
    (folder / "metrics.csv").write_text(text)
    (folder / "hparams.yaml").write_text("lr: 0.1\n")
    shutil.copy(SAMPLE_EVENTS, folder)
    outside = traindx.read(folder).runs
    monkeypatch.chdir(folder)
    inside = traindx.read(".").runs
    assert len(outside) == len(inside)
    assert [run.formats for run in outside] == [run.formats for run in inside]


def test_two_histories_in_one_document(tmp_path: Path) -> None:
    rows = [{"step": i, "loss": 1.0 / (i + 1)} for i in range(9)]
    (tmp_path / "folds.json").write_text(json.dumps({"fold1": rows, "fold2": rows}))
    assert len(traindx.read(tmp_path).runs) == 2


def test_a_mark_at_the_start_loses_no_line(tmp_path: Path) -> None:
    text = "".join(f"step {i} loss {1 / (i + 1):.4f}\n" for i in range(6))
    (tmp_path / "a.log").write_bytes(text.encode("utf-8-sig"))
    (tmp_path / "b.log").write_bytes(text.replace("0.", "1.").encode("utf-16"))
    for run in traindx.read(tmp_path).runs:
        assert run.series["loss"].steps.tolist() == [0, 1, 2, 3, 4, 5]
    assert len(traindx.read(tmp_path).runs) == 2
