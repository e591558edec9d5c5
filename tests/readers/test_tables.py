"""The generic readers: CSV and its like, JSON lines, JSON documents."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import traindx
from tests.readers.truth import SAMPLES, assert_logged, only_run, read_text, truth_of
from traindx.core.names.understand import canonical
from traindx.core.units import Bundle
from traindx.logs.formats import json_file
from traindx.logs.log_file import File

FOLDER = SAMPLES / "tables"
SERIES = truth_of("tables")["series"]
GAPLESS = ("accuracy", "grad_norm", "lr")


def logged(*names: str) -> dict[str, list[list[object]]]:
    return {name: SERIES[name] for name in names}


@pytest.mark.parametrize(
    ("name", "format", "columns"),
    [
        ("python.csv", "csv", ("grad_norm", "loss", "lr", "val_loss")),
        ("numpy_metrics.txt", "csv", ("grad_norm", "loss", "lr")),
        ("numpy_metrics.csv", "csv", ("grad_norm", "loss", "lr")),
        ("pandas.csv", "csv", GAPLESS),
        ("pandas_german.csv", "csv", GAPLESS),
        ("pandas_utf16.tsv", "csv", GAPLESS),
        ("python.jsonl", "jsonl", ("grad_norm", "loss", "lr", "val_loss")),
        ("pandas.jsonl", "jsonl", GAPLESS),
        ("pandas_records.json", "json", GAPLESS),
        ("pandas_split.json", "json", GAPLESS),
        ("pandas_index.json", "json", GAPLESS),
    ],
)
def test_written_by_libraries(name: str, format: str, columns: tuple[str, ...]) -> None:
    run = only_run(traindx.read(str(FOLDER / name)))
    assert (run.format, run.axis) == (format, "step")
    if name in ("pandas.jsonl", "pandas_records.json", "pandas_split.json", "pandas_index.json"):
        rounded = {s.source: s.values for s in run.series.values()}  # pandas writes ten decimals
        for column in columns:
            assert rounded[column] == pytest.approx([v for _, v in SERIES[column]], abs=1e-9)
        assert sorted(rounded) == sorted(columns)
    else:
        assert_logged(run, logged(*columns))


def test_orjson_writes_no_nan() -> None:
    run = only_run(traindx.read(str(FOLDER / "orjson.jsonl")))
    finite = [point for point in SERIES["loss"] if not isinstance(point[1], str)]
    assert_logged(run, {**logged("grad_norm", "lr", "val_loss"), "loss": finite})


def columns_of(name: str) -> dict[str, list[float]]:
    file = File(FOLDER / name)
    assert json_file.READER.claim(file)
    (log,) = json_file.READER.read(Bundle(name, (file,)))
    return {column.name: column.steps.tolist() for column in log.columns}


def test_frame_by_columns() -> None:
    steps = [10.0 * n for n in range(10)]
    assert columns_of("pandas_columns.json") == {"lr": steps, "grad_norm": steps, "accuracy": steps}


def test_shorter_lists_are_spread() -> None:
    assert columns_of("history.json")["val_loss"] == [1.0, 3.0, 5.0, 7.0, 9.0]


RUNS = {
    "no_epoch.csv": "val_loss,val_accuracy,loss,accuracy\n1,2,3,4\n1,2,3,4\n1,2,3,5\n",
    "unknown.csv": "step,foo,bar\n" + "".join(f"{n},{n / 3},{n / 7}\n" for n in range(6)),
    "run-a-tag-train_loss.csv": "Wall time,Step,Value\n1700000000.5,1,0.5\n1700000001.5,2,0.25\n",
    "losses.csv": "0,2.5\n1,1.5\n2,1.25\n",
    "metrics.dat": "epoch loss acc\n1 2.5 0.1\n2 2.4 0.2\n",
    "training.log": "epoch,loss\r\n0,1\r\n1,0.5\r\n",
    "x.json": '{"train": {"loss": [3, 2, 1]}, "val": {"loss": [4, 3, 2]}}',
    "tb.json": "[[1700000000.5, 1, 0.5], [1700000001.5, 2, 0.25]]",
    "rows.json": '{"args": {"lr": 0.1}, "log": [{"epoch": 1, "loss": 2}, {"epoch": 2, "loss": 1}]}',
    "final.json": '{"step": 500, "train": {"loss": 0.5}, "epoch": 3}',
    "one.jsonl": '{"step": 1, "loss": 0.5}\n',
    "odd.txt": '{"step": 1, "foo": 0.5, "loss": 1}\n{"step": 2, "foo": 0.25, "loss": 1}\n',
}


@pytest.mark.parametrize("name", RUNS)
def test_runs(tmp_path: Path, name: str) -> None:
    assert only_run(read_text(tmp_path, name, RUNS[name])).series


def dataset(rows: int) -> str:
    rng = random.Random(0)
    return "age,weight,time,price\n" + "".join(
        f"{rng.randrange(90)},{rng.random()},{rng.randrange(9)},{rng.random()}\n" for _ in range(rows)
    )


NO_RUNS = {
    "dataset.csv": dataset(2000),
    "titanic.csv": "Id,Survived,Name\n1,0,Braund\n2,1,Cumings\n3,1,Heikkinen\n4,1,Futrelle\n5,0,Allen\n",
    "points.csv": "0,1.5\n1,2.5\n2,3.5\n3,5\n4,6\n5,7\n",
    "report.csv": ",precision,recall,f1-score,support\ncat,0.5,0.5,0.5,10\ndog,0.5,0.6,0.7,8\nbird,1,1,1,2\n",
    "config.json": '{"lr": 0.1, "epochs": 10, "loss": "mse", "layers": [64, 64], "betas": [0.9, 0.999]}',
    "package.json": '{"name": "x", "version": "1.0", "scripts": {"test": "jest"}}',
    "prompts.jsonl": '{"prompt": "a", "answer": "b", "id": 1}\n{"prompt": "c", "answer": "d", "id": 2}\n',
    "coco.json": '{"images": [{"id": 1, "width": 640}], "annotations": [{"id": 1, "area": 5.5}]}',
    "vocab.json": '{"a": 0, "b": 1, "step": 2, "loss": 3, "c": 4}',
    "config.yaml.csv": "name,value\nlr,0.1\nepochs,10\n",
}


@pytest.mark.parametrize("name", NO_RUNS)
def test_no_runs_in_a_project(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(NO_RUNS[name])
    generic = [run for run in traindx.read(str(tmp_path)).runs if run.format in ("csv", "json", "jsonl")]
    assert not generic


def test_labelled_rows_are_split(tmp_path: Path) -> None:
    text = "epoch,phase,loss\n0,train,2\n0,val,3\n1,train,1\n1,val,2.5\n"
    run = only_run(read_text(tmp_path, "log.csv", text))
    assert run.series["loss"].values.tolist() == [2, 1]
    assert run.series["val/loss"].values.tolist() == [3, 2.5]


def test_restarts_part_runs(tmp_path: Path) -> None:
    text = "epoch,loss\n0,3\n1,2\n2,1\nepoch,loss\n0,5\n1,4\n"
    assert [len(run.series["loss"]) for run in read_text(tmp_path, "log.csv", text).runs] == [3, 2]


def test_rows_written_twice_count_once(tmp_path: Path) -> None:
    losses = [round(2.0 * 0.95**row, 4) for row in range(40)]
    rows = [f"{step},{loss}" for step, loss in enumerate(losses * 2, start=1)]
    path = tmp_path / "losses.csv"
    path.write_text("step,loss\n" + "\n".join(rows))
    run = traindx.read(path).runs[0]
    assert run.series["loss"].values.tolist() == losses
    assert [(event.kind, event.step) for event in run.events] == [("repeated_rows", 41.0)]

    path.write_text("step,loss\n" + "\n".join([*rows[:-1], "80,0.5"]))  # another end: a training of 80 steps
    assert len(traindx.read(path).runs[0].series["loss"]) == 80


def test_clock(tmp_path: Path) -> None:
    text = '{"step": 0, "loss": 1, "ts": 1700000000000}\n{"step": 1, "loss": 2, "ts": 1700000001000}\n'
    run = only_run(read_text(tmp_path, "log.jsonl", text))
    times = run.series["loss"].times
    assert times is not None
    assert times.tolist() == [1.7e9, 1.7e9 + 1]
    assert list(run.series) == ["loss"]


def test_torn_document(tmp_path: Path) -> None:
    run = only_run(read_text(tmp_path, "x.json", '[{"epoch": 1, "loss": 2}, {"epoch": 2, "loss": 1}, {"epo'))
    assert len(run.series["loss"]) == 2
    assert any("cut off" in note.text for note in run.notes)


def test_nan_at_all_but_every_nth_row_is_an_empty_cell(tmp_path: Path) -> None:
    rows = ["step,train_loss,val_loss"]
    rows += [f"{n},{2 - n / 100},{1.5 if n % 5 == 4 else 'nan'}" for n in range(40)]
    file = tmp_path / "log.csv"
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert len(traindx.read(file).runs[0].series["val/loss"]) == 8
    rows = ["step,train_loss,val_loss"] + [f"{n},{2 - n / 100},{1.5 if n < 3 else 'nan'}" for n in range(40)]
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert len(traindx.read(file).runs[0].series["val/loss"]) == 40


def test_settings_in_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    rows = [f'{{"step": {step}, "loss": {2.0 - step / 10}, "lr": 0.02}}' for step in range(8)]
    first = '{"config": {"optimizer": "sgd", "batch_size": 16, "lr": 0.01}}'
    path.write_text("\n".join([first, *rows]) + "\n", encoding="utf-8")
    run = only_run(traindx.read(str(path)))
    assert sorted(run.series) == ["loss", "lr"]
    assert run.settings == {"optimizer": "sgd", "batch_size": 16, "lr": 0.01}


@pytest.mark.parametrize(
    "first",
    [
        '{"config": {"lr": 0.01, "norm": "batch"}}',
        '{"event": "config", "lr": 0.01, "norm": "batch"}',
        '{"lr": 0.01, "norm": "batch", "val_loss": 2.5}',
    ],
)
def test_settings_in_the_first_line_of_json_lines(tmp_path: Path, first: str) -> None:
    """As an object, or as values that no later line has; what later lines have too is no setting."""
    rows = [f'{{"event": "epoch", "epoch": {n}, "loss": {1 / n}, "val_loss": {2 / n}}}' for n in range(1, 9)]
    (tmp_path / "run.jsonl").write_text("\n".join([first, *rows]) + "\n")
    run = only_run(traindx.read(str(tmp_path / "run.jsonl")))
    assert run.config["lr"] == 0.01
    assert run.config["norm"] == "batch"
    assert "lr" not in run.series
    assert len(run.series["val/loss"].values) >= 8
    assert "val_loss" not in run.config


def test_a_first_line_that_counts_is_no_settings(tmp_path: Path) -> None:
    rows = [
        '{"epoch": 1, "loss": 2.0, "warm": 1}',
        *(f'{{"epoch": {n}, "loss": {2 / n}}}' for n in range(2, 9)),
    ]
    (tmp_path / "run.jsonl").write_text("\n".join(rows) + "\n")
    assert "warm" not in only_run(traindx.read(str(tmp_path / "run.jsonl"))).config


def test_a_monitor_is_read_by_episode(tmp_path: Path) -> None:
    path = tmp_path / "monitor.csv"
    rows = "\n".join(f"{n * 1.5},{200 + n},{n * 0.2:.1f}" for n in range(40))
    path.write_text(f'#{{"t_start": 1637670664.0, "env_id": null}}\nr,l,t\n{rows}\n')
    run = only_run(traindx.read(path))
    assert list(run.series["reward"].values[:3]) == [0.0, 1.5, 3.0]
    assert list(run.series["episode_length"].values[:2]) == [200.0, 201.0]
    assert run.series["reward"].steps[-1] == 40
    assert "rl" in run.traits


@pytest.mark.parametrize(("name", "expected"), [("perp", "perplexity"), ("test/success_rate", "test/reward")])
def test_names_met_in_logs(name: str, expected: str) -> None:
    assert canonical(name) == expected


def test_the_sides_of_a_gan_in_one_word(tmp_path: Path) -> None:
    path = tmp_path / "train.out"
    lines = [f"[{n:3d}/200]: dloss: {0.5 / (n + 1):.4f}, gloss: {3.0 - n / 100:.4f}" for n in range(60)]
    path.write_text("\n".join(lines))
    run = only_run(traindx.read(path))
    assert {"loss/d", "loss/g"} <= set(run.series)
    assert "gan" in run.traits


def test_a_total_that_falls_is_the_loss(tmp_path: Path) -> None:
    path = tmp_path / "train.out"
    path.write_text("\n".join(f"[epoch: {n}/40] total: {2.0 - n / 50:.4f}" for n in range(1, 40)))
    run = only_run(traindx.read(path))
    assert run.series["loss"].values[0] == pytest.approx(1.98)


def test_a_rate_that_is_named_only_where_it_is_reduced(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    lines = []
    for n in range(1, 61):
        lines.append(f"Epoch {n}, Train Loss: {1.0 / n + 0.2:.4f}, Validation Loss: {1.0 / n + 0.3:.4f}")
        if n in (20, 30, 40):
            lines.append(
                f"Epoch {n:05d}: reducing learning rate of group 0 to {1e-3 * 0.5 ** (n // 10):.4e}."
            )
    path.write_text("\n".join(lines))
    rate = only_run(traindx.read(path)).series["lr"]
    assert rate.steps[0] == 20
    assert sorted(set(rate.values), reverse=True) == [2.5e-4, 1.25e-4, 6.25e-5]
    assert rate.derived == "printed reductions"


def test_one_column_of_a_metric_is_a_curve(tmp_path: Path) -> None:
    path = tmp_path / "epoch_rewards.csv"
    path.write_text("rewards\n" + "\n".join(str(float(n)) for n in range(40)))
    assert len(only_run(traindx.read(path)).series["reward"]) == 40


def test_an_index_and_a_column_without_names(tmp_path: Path) -> None:
    path = tmp_path / "losses.csv"
    path.write_text(",0\n" + "\n".join(f"{n},{4.6 - n / 100}" for n in range(40)))
    loss = only_run(traindx.read(path)).series["loss"]
    assert loss.steps[0] == 0
    assert loss.values[0] == 4.6
    assert len(loss) == 40


def test_odd_words_about_a_reduction(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    lines = [f"Epoch {n}, Train Loss: {1.0 / n + 0.2:.4f}" for n in range(1, 31)]
    lines[10:10] = ["Epoch 10: reducing learning rate of group 0 to 0.001...ok"]
    lines[15:15] = ["reducing learning rate of group 0 to 1.2.3", "reducing learning rate to nothing"]
    lines[22:22] = [
        "Epoch 20: reducing learning rate of group 1 to 5.0",
        "Epoch 20: reducing learning rate to 1e-5.",
    ]
    path.write_text("\n".join(lines))
    rates = only_run(traindx.read(path)).series["lr"].values
    assert set(rates) == {1e-3, 1e-5}


def test_a_total_of_seconds_is_no_loss(tmp_path: Path) -> None:
    path = tmp_path / "history.csv"
    rows = "\n".join(f"{n},{0.5 + n / 100},{30 - n / 30:.2f}" for n in range(30))
    path.write_text(f"epoch,accuracy,total\n{rows}\n")
    assert "loss" not in only_run(traindx.read(path)).series


def test_a_list_of_numbers_is_called_like_its_file(tmp_path: Path) -> None:
    run = only_run(read_text(tmp_path, "train_loss.txt", "[0.9, 0.5, 0.25, NaN, 0.1]"))
    assert run.series["loss"].values.tolist()[:3] == [0.9, 0.5, 0.25]
    assert len(run.series["loss"]) == 5


@pytest.mark.parametrize(("name", "text"), [("numbers.json", "[1, 2, 3, 4, 5]"), ("loss.json", "[0.9, 0.5]")])
def test_other_lists_of_numbers_are_no_log(name: str, text: str, tmp_path: Path) -> None:
    assert not read_text(tmp_path, name, text).runs
