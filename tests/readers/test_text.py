"""Text logs that real libraries printed, and what a learner must not be fooled by."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import traindx
from traindx.core.nouns import Run

from .truth import SAMPLES, read_text, truth_of


def only(found: traindx.Reading) -> Run:
    assert len(found.runs) == 1, (found.skipped, [run.name for run in found.runs])
    return found.runs[0]


@pytest.mark.parametrize("name", sorted(truth_of("text")))
def test_real_output(name: str) -> None:
    expected = truth_of("text")[name]
    run = only(traindx.read(SAMPLES / "text" / name))
    assert run.axis == expected["axis"]
    plain = {series.source: series for series in reversed(list(run.series.values()))}
    for source, points in expected["series"].items():
        steps, values = np.array([[float(a), float(b)] for a, b in points]).T
        np.testing.assert_allclose(plain[source].steps, steps, rtol=1e-3, err_msg=source)
        np.testing.assert_allclose(plain[source].values, values, rtol=1e-9, err_msg=source)


def test_keras_evaluation_is_not_part_of_the_training() -> None:
    run = only(traindx.read(SAMPLES / "text" / "keras.log"))
    assert len(run.series["loss"]) == 8
    assert len(run.series["test/loss"]) == 1


def test_settings_are_found_above_the_measurements(tmp_path: Path) -> None:
    lines = [
        "Using device: cuda",
        "2024-01-01 10:00:00,123 - INFO - __main__ -   learning_rate: 3e-4",
        "Namespace(batch_size=64, optimizer='adamw', weight_decay=0.1, warmup_steps=100)",
        "number of parameters: 124.35M",
        "python train.py --dropout 0.2 --seed=7",
        *[f"step {s} loss {3 / (s + 1):.4f}" for s in range(20)],
    ]
    run = only(read_text(tmp_path, "a.log", "\n".join(lines)))
    wanted = {
        "lr": 3e-4,
        "batch_size": 64,
        "optimizer": "adamw",
        "weight_decay": 0.1,
        "warmup": 100,
        "model_parameters": 124_350_000,
        "dropout": 0.2,
        "seed": 7,
    }
    assert {name: run.settings[name] for name in wanted} == wanted


@pytest.mark.parametrize("title", ["args: ", "config: ", "Training config: ", ""])
@pytest.mark.parametrize("comma", [" ", ", "])
def test_pairs_behind_a_title(tmp_path: Path, title: str, comma: str) -> None:
    head = title + comma.join(["batch_size=2", "lr=0.05", "momentum=0.9", "model=cnn_bn"])
    run = only(read_text(tmp_path, "a.log", "\n".join([head, *(f"step {s} loss {9 - s}" for s in range(8))])))
    assert dict(run.settings) == {"lr": 0.05, "batch_size": 2, "momentum": 0.9, "model": "cnn_bn"}
    assert "args" not in run.config


@pytest.mark.parametrize(
    ("line", "total", "trainable"),
    [
        ("trainable params: 650 || all params: 1968 || trainable%: 33.0", 1968, 650),
        ("trainable 650 of 1968 parameters", 1968, 650),
        ("Total params: 1,968\nTrainable params: 650\nNon-trainable params: 1,318", 1968, 650),
        ("1.5 M trainable params", None, 1_500_000),
        ("my net, trainable parameters: 650, frozen parameters: 1318", None, 650),
        ("number of parameters: 124.35M", 124_350_000, None),
        ("fsdp_min_num_params: 0", None, None),
    ],
)
def test_parameters_in_all_and_trainable(
    tmp_path: Path, line: str, total: int | None, trainable: int | None
) -> None:
    run = only(read_text(tmp_path, "a.log", "\n".join([line, *(f"step {s} loss {9 - s}" for s in range(8))])))
    counts = (run.settings.get("model_parameters"), run.settings.get("trainable_parameters"))
    assert counts == (total, trainable)


def test_a_log_level_and_date_are_no_epoch(tmp_path: Path) -> None:
    lines = [f"E0314 12:00:{s:02d}.120 train.cc:33] iter {s} loss {9 - s}" for s in range(8)]
    run = only(read_text(tmp_path, "a.log", "\n".join(lines)))
    assert run.axis == "step"
    assert list(run.series) == ["loss"]


def test_brackets_that_speak_of_the_loss_itself_are_no_terms(tmp_path: Path) -> None:
    lines = [f"step {s} loss={9 - s} (best {8 - s}, lr 0.{s + 1})" for s in range(8)]
    run = only(read_text(tmp_path, "a.log", "\n".join(lines)))
    assert not [name for name in run.series if name.startswith("loss/")]


def test_restarts_part_and_resumes_join(tmp_path: Path) -> None:
    def line(s: int, add: float) -> str:
        return f"iter {s}: loss {add + 1 / (s + 1):.4f}"

    first = [line(s, 0) for s in range(0, 100, 10)]
    again = [line(s, 1) for s in range(0, 200, 10)]
    found = read_text(tmp_path, "a.log", "\n".join(first + again))
    assert [len(run.series["loss"]) for run in found.runs] == [10, 20]
    resumed = [line(s, 2) for s in range(60, 200, 10)]
    run = only(read_text(tmp_path, "b.log", "\n".join(first + resumed)))
    assert run.series["loss"].steps.tolist() == [float(s) for s in range(0, 200, 10)]
    assert run.series["loss"].values[6] > 2
    assert [event.kind for event in run.events] == ["resume"]


def test_ranks_become_series_of_their_own(tmp_path: Path) -> None:
    text = "\n".join(f"[rank {r}] step {s} loss {s + r / 10:.1f}" for s in range(10) for r in (0, 1))
    run = only(read_text(tmp_path, "a.log", text))
    assert run.series["loss"].values.tolist() == [float(s) for s in range(10)]
    assert any("rank1" in series.source for series in run.series.values())


def test_crash_overflow_and_early_stop_are_events(tmp_path: Path) -> None:
    lines = [f"step {s} loss {2.0 - s / 100}" for s in range(50)]
    lines[30:30] = [
        "[deepscale] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 256, reducing to 128.0"
    ]
    lines += [
        "Traceback (most recent call last):",
        '  File "train.py", line 3, in <module>',
        "ValueError: boom",
    ]
    run = only(read_text(tmp_path, "a.log", "\n".join(lines)))
    assert [(event.kind, event.step) for event in run.events] == [("overflow", 29.0), ("exception", 49.0)]
    assert run.events[1].text == "ValueError: boom"


@pytest.mark.parametrize(
    "text",
    [
        "The loss of 3 ships was reported in 1912 and 5 in 1913.\nNothing else happened.\n",
        "def f(loss=0.1, lr=3):\n    return loss * 2.0\nfor step in range(10):\n    print(step, loss)\n",
        "\n".join(f"GET /page/{i} 200 {i * 3} bytes" for i in range(50)),
        "  0%|          | 0/96 [00:00<?, ?it/s]\r 35%|###5      | 34/96 [10:42<30:50, 29.85s/it]\n",
    ],
    ids=["prose", "code", "web server", "bars only"],
)
def test_what_is_no_training_is_no_run(text: str, tmp_path: Path) -> None:
    found = read_text(tmp_path, "a.log", text)
    assert found.runs == ()
    assert len(found.skipped) == 1


def test_nan_is_a_value_and_a_missing_field_is_not(tmp_path: Path) -> None:
    lines = []
    for s in range(0, 100, 10):
        loss = "" if s == 40 else f"| lm loss: {'nan' if s > 60 else 2.5} "
        lines.append(
            f"iteration {s}/100 | learning rate: 1.0E-04 {loss}| grad norm: {'inf' if s > 50 else 1.5} |"
        )
    run = only(read_text(tmp_path, "a.log", "\n".join(lines)))
    assert run.series["loss"].steps.tolist() == [0, 10, 20, 30, 50, 60, 70, 80, 90]
    assert np.isnan(run.series["loss"].values[-3:]).all()
    assert np.isinf(run.series["grad_norm"].values[-4:]).all()


def test_rare_lines_of_a_large_log_are_found(tmp_path: Path) -> None:
    """Beyond the first megabyte only samples are learned from; what they miss is learned afterwards."""
    lines = [f"iter {s}: loss {1 + 1 / (s + 1):.6f}, time {100 + s % 7:.2f}ms" for s in range(60_000)]
    for s in (41_234, 41_999, 50_001):
        lines[s] += f"\nevaluation after {s} iterations: val_loss = {s / 1000:.3f}"
    run = only(read_text(tmp_path, "a.log", "\n".join(lines)))
    assert len(run.series["loss"]) == 60_000
    assert run.series["val/loss"].values.tolist() == [41.234, 41.999, 50.001]


def test_a_table_whose_header_comes_again(tmp_path: Path) -> None:
    """fastai prints one table per fit, and the columns may change."""
    first = [
        "epoch     train_loss  valid_loss  error_rate  time",
        "0         0.021682    0.003351    0.001353    00:45",
    ]
    second = ["epoch     train_loss  valid_loss  accuracy  time"]
    second += [f"{e}         0.{30 - e}1669    0.2532{e}4    0.{89 + e}7920  02:53" for e in range(4)]
    found = read_text(tmp_path, "fit.log", "\n".join(first + second + first))
    assert [len(run.series["loss"]) for run in found.runs] == [1, 4, 1]
    assert "error" in found.runs[0].series
    assert "accuracy" in found.runs[1].series
    assert "error" not in found.runs[1].series


def test_stamps_give_the_time_of_every_point(tmp_path: Path) -> None:
    begin = datetime(2024, 2, 28, 23, 59, 50, 500_000, tzinfo=UTC)
    moments = [begin + timedelta(seconds=7 * i) for i in range(20)]
    shown = [f"{m:%Y-%m-%d %H:%M:%S},{m.microsecond // 1000:03d}" for m in moments]
    lines = [f"{stamp} - INFO - step {i} loss {i / 7:.4f}" for i, stamp in enumerate(shown)]
    run = only(read_text(tmp_path, "a.log", "\n".join(lines)))
    times = run.series["loss"].times
    assert times is not None
    assert times.tolist() == [m.timestamp() for m in moments]


def test_lines_below_a_stamp_share_its_time(tmp_path: Path) -> None:
    blocks = [f"2024-02-28 10:00:{i:02d} INFO [step={i}]\n    train/loss={i / 3:.3f}" for i in range(30)]
    run = only(read_text(tmp_path, "a.log", "\n".join(blocks)))
    times = run.series["loss"].times
    assert times is not None
    assert np.diff(times).tolist() == [1.0] * 29
