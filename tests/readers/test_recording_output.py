"""What a recorded script printed: a text log on the recorder's own steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import traindx
from tests.readers.tape import STARTED, Tape
from tests.readers.truth import only_run
from traindx.core.nouns import Event, Run
from traindx.logs.printed_text import PrintedText
from traindx.logs.recordings import PrintedPiece


@pytest.fixture
def tape(tmp_path: Path) -> Tape:
    return Tape(tmp_path / ".traindx" / "r")


def points(run: Run, name: str) -> list[tuple[float, float]]:
    series = run.series[name]
    return list(zip(series.steps.tolist(), series.values.tolist(), strict=True))


def test_printed_values_have_the_steps_they_were_printed_at(tape: Tape) -> None:
    tape.prints("loading data\nepoch 0 train loss 2.4 val loss 2.31 val acc 0.10\n")
    for epoch in range(1, 5):
        tape.rows(7, loss=2.0 / epoch, lr=0.1)
        tape.t += 0.5
        tape.prints(f"epoch {epoch} train loss {2.0 / epoch:.3f} val loss {2.2 / epoch:.3f} ")
        tape.prints(f"val acc {epoch / 10:.2f}\n")
    tape.end()
    run = only_run(traindx.read(tape.folder))
    assert points(run, "val/loss") == [(0, 2.31), (7, 2.2), (14, 1.1), (21, 0.733), (28, 0.55)]
    assert points(run, "val/accuracy") == [(0, 0.1), (7, 0.1), (14, 0.2), (21, 0.3), (28, 0.4)]
    assert {series.axis for series in run.series.values()} == {"step"}
    assert set(run.series) == {"loss", "lr", "val/loss", "val/accuracy", "printed/loss"}
    assert run.series["val/accuracy"].goal == "higher"
    times = run.series["val/loss"].times
    assert times is not None
    assert times[1] == pytest.approx(STARTED + 1.2)


def test_recorded_training_and_printed_validation_win(tape: Tape) -> None:
    for epoch in range(1, 6):
        tape.rows(4, loss=1.0 / epoch, lr=0.1, grad_norm=2.0, step_s=0.1, data_wait_s=0.01)
        tape.line(**{"val/loss": 3.0 / epoch})
        tape.prints(
            f"Epoch {epoch} | loss {1.1 / epoch:.4f} | lr 0.100{epoch} | grad_norm 2.{epoch} | "
            f"time 0.{3 + epoch % 2}s | kl_loss 0.{epoch} | val_loss {2.0 / epoch:.3f} | ppl {epoch + 3}.0\n"
        )
    tape.end()
    run = only_run(traindx.read(tape.folder))
    assert points(run, "loss")[0] == (1, 1.0)
    assert len(run.series["loss"]) == 20
    assert points(run, "printed/loss")[1] == (8, 0.55)
    assert {"printed/lr", "printed/grad_norm", "printed/step_s"} <= set(run.series)
    assert points(run, "val/loss")[0] == (4, 2.0)
    assert points(run, "observed/val/loss")[0] == (4, 3.0)
    assert points(run, "loss/kl")[4] == (20, 0.5)
    assert points(run, "perplexity")[0] == (4, 4.0)
    assert "printed/val/loss" not in run.series


def test_one_printed_result_does_not_take_the_place_of_a_course(tape: Tape) -> None:
    for epoch in range(1, 6):
        tape.rows(4, loss=1.0 / epoch)
        tape.line(**{"val/loss": 3.0 / epoch})
        tape.prints(f"epoch {epoch} acc {epoch * 11}%\n")
    tape.prints("final validation loss: 0.61\n")
    run = only_run(traindx.read(tape.folder))
    assert len(run.series["val/loss"]) == 5
    assert points(run, "printed/val/loss") == [(20, 0.61)]


def test_what_the_script_logs_goes_before_what_it_prints(tape: Tape) -> None:
    for epoch in range(1, 5):
        tape.rows(4, loss=1.0 / epoch)
        tape.line(**{"val/loss": 3.0 / epoch})
        tape.line(log={"val_loss": 2.0 / epoch, "train_loss": 1.0, "f1": 0.5})
        tape.prints(f"epoch {epoch} val loss {2.5 / epoch:.3f}\n")
    run = only_run(traindx.read(tape.folder))
    assert points(run, "val/loss")[0] == (4, 2.0)
    assert points(run, "observed/val/loss")[0] == (4, 3.0)
    assert points(run, "printed/val/loss")[0] == (4, 2.5)
    assert points(run, "logged/loss")[0] == (4, 1.0)
    assert len(run.series["f1"]) == 4


def test_rows_with_names_of_the_script(tape: Tape) -> None:
    """A name that is not canonical is the script's own."""
    for epoch in range(1, 5):
        tape.rows(4, loss=1.0 / epoch)
        tape.line(valTop1Acc=epoch / 10, eval_loss=2.0)
        tape.line(**{"val/loss": 3.0})
    run = only_run(traindx.read(tape.folder))
    assert points(run, "val/accuracy") == [(4, 0.1), (8, 0.2), (12, 0.3), (16, 0.4)]
    assert points(run, "val/loss")[0] == (4, 2.0)
    assert run.series["val/accuracy"].source == "valTop1Acc"


def test_bars_in_one_stream_and_lines_in_the_other(tape: Tape) -> None:
    """A bar without a line end in standard error does not run into what standard output says."""
    for epoch in range(1, 4):
        for done in (5, 10):
            tape.rows(5, loss=1.0 / epoch)
            tape.prints(
                f"\rEpoch {epoch}: {10 * done:3d}%|#####| {done}/10 [00:01<00:00, acc=0.{epoch}{done:02d}]",
                "err",
            )
        tape.prints(f"Epoch {epoch}: val_loss={1.5 / epoch:.3f}\n")
    run = only_run(traindx.read(tape.folder))
    assert points(run, "val/loss") == [(10, 1.5), (20, 0.75), (30, 0.5)]
    bar = run.series.get("accuracy") or run.series["accuracy@bar"]
    assert set(bar.steps.tolist()) <= {5.0, 10.0, 15.0, 20.0, 25.0, 30.0}
    assert len(bar) >= 3


def test_a_history_printed_at_the_end_keeps_its_own_count(tape: Tape) -> None:
    tape.rows(40, loss=np.linspace(2, 1, 40).tolist())
    tape.prints("".join(f"epoch {n} val_loss {2.0 / n:.3f}\n" for n in range(1, 9)))
    tape.end()
    run = only_run(traindx.read(tape.folder))
    assert run.series["val/loss"].axis == "epoch"
    assert points(run, "val/loss")[1] == (2, 1.0)
    assert run.axis == "step"
    assert run.series["loss"].axis == "step"


def test_a_history_printed_at_the_end_does_not_take_the_place_of_a_course(tape: Tape) -> None:
    for epoch in range(1, 6):
        tape.rows(4, loss=1.0 / epoch)
        tape.line(**{"val/loss": 2.0 / epoch})
    tape.prints("".join(f"epoch {n} val_loss {2.0 / n:.3f}\n" for n in range(1, 6)))
    run = only_run(traindx.read(tape.folder))
    assert points(run, "val/loss")[1] == (8, 1.0)
    assert run.series["printed/val/loss"].axis == "epoch"


def test_values_printed_at_one_step_keep_their_order(tape: Tape) -> None:
    for epoch in range(1, 5):
        tape.rows(4, loss=1.0 / epoch)
        tape.prints("".join(f"epoch {epoch} val acc 0.{epoch}{fold}\n" for fold in range(3)))
    run = only_run(traindx.read(tape.folder))
    series = run.series["val/accuracy"]
    assert (np.diff(series.steps) >= 0).all()
    assert series.values.tolist() == [
        round(0.1 * epoch + 0.01 * fold, 2) for epoch in range(1, 5) for fold in range(3)
    ]


def test_several_trainings_in_one_text_are_one_course(tape: Tape) -> None:
    for fold in range(3):
        for epoch in range(1, 5):
            tape.rows(2, loss=1.0 / epoch)
            tape.prints(f"Epoch {epoch}/4 val_acc: 0.{fold}{epoch}\n")
    run = only_run(traindx.read(tape.folder))
    assert run.series["val/accuracy"].steps.tolist() == list(range(2, 25, 2))
    assert not run.events


def test_colours_odd_bytes_and_escapes_do_not_shift_the_steps(tape: Tape) -> None:
    tape.prints(
        "\ufeff\x1b[1mstart\x1b[0m\x00\x00 \x1b\x1b[0m[0m\n\ud800 half\r\n\x08\x08\x08gone\n" + "x" * 40_000
    )
    for epoch in range(1, 7):
        tape.rows(3, loss=1.0 / epoch)
        tape.prints(f"\n\x1b[32mepoch\x1b[0m {epoch} \x1b[1mval_acc\x1b[0m 0.{epoch}")
    run = only_run(traindx.read(tape.folder))
    assert points(run, "val/accuracy") == [(3 * n, n / 10) for n in range(1, 7)]


def test_lines_and_their_steps_are_those_of_a_slow_reading() -> None:
    """Each printed line is found again at the step of the piece that completed it."""
    rng = np.random.default_rng(3)
    chunks, expected, line = [], [], ""
    for step in range(200):
        for _ in range(int(rng.integers(0, 4))):
            word = f"w{rng.integers(0, 99)}" + rng.choice(["\n", " ", "\r\n", "\r"])
            chunks.append(PrintedPiece("out", word, float(step), 0.1 * step))
            line += word.rstrip("\r\n")
            if word[-1] in "\r\n":
                expected.append((line, step))
                line = ""
    printed = PrintedText(chunks, 0.0, "x")
    lines_read = [text.decode() for text in printed.text.split(b"\n")[:-1]]
    found = [(text, int(step)) for text, step in zip(lines_read, printed.steps, strict=True)]
    assert found == expected + ([(line, found[-1][1])] if line else [])
    for start, text in zip(printed.starts, lines_read, strict=True):
        assert printed.text[start:].startswith(text.encode() + b"\n")


def test_printed_settings_fill_gaps_only(tape: Tape) -> None:
    tape.prints("learning_rate: 0.9\nbatch_size: 64\nNamespace(momentum=0.8, epochs=4, optimizer='adam')\n")
    for epoch in range(1, 5):
        tape.rows(2, loss=1.0 / epoch)
        tape.prints(f"epoch {epoch} val_loss {1.0 / epoch:.3f}\n")
    tape.end(config={"lr": 0.1, "optimizer": "sgd"})
    settings = only_run(traindx.read(tape.folder)).settings
    assert settings == {"lr": 0.1, "optimizer": "sgd", "batch_size": 64, "momentum": 0.8, "epochs": 4}


TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 12, in <module>
    main()
{}
"""


def test_what_was_printed_of_trouble_becomes_events(tape: Tape) -> None:
    tape.rows(3, loss=1.0)
    tape.prints("Gradient overflow. Skipping step, reducing loss scale to 1024\n")
    tape.rows(3, loss=1.0)
    tape.prints(TRACEBACK.format("ValueError: bad batch, skipped"), "err")
    tape.t += 60
    tape.rows(3, loss=1.0)
    tape.prints("Early stopping at epoch 3\n")
    tape.prints(TRACEBACK.format("RuntimeError: mat1 and mat2 shapes cannot be multiplied"), "err")
    tape.end("exception", "RuntimeError: mat1 and mat2 shapes cannot be multiplied (3x4 and 5x6)")
    events = only_run(traindx.read(tape.folder)).events
    assert [(event.kind, event.step) for event in events] == [
        ("overflow", 3.0),
        ("exception", 6.0),
        ("exception", 9.0),
        ("early_stop", 9.0),
    ]
    assert events[2].text.endswith("(3x4 and 5x6)")


def test_an_interrupt_is_reported_once(tape: Tape) -> None:
    tape.rows(3, loss=1.0)
    tape.prints(TRACEBACK.format("KeyboardInterrupt"), "err")
    tape.end("interrupted")
    assert only_run(traindx.read(tape.folder)).events == (Event("interrupted", "interrupted", 3.0),)


def test_without_steps_the_text_is_read_as_any_text(tape: Tape, tmp_path: Path) -> None:
    text = "lr = 0.3\n" + "".join(f"epoch {n}: loss {3.0 / n:.4f}, val_acc {n}.5%\n" for n in range(1, 20))
    for line in text.splitlines(keepends=True):
        tape.prints(line)
        tape.line(rss_bytes=1e9)
    tape.end("exception", "RuntimeError: CUDA out of memory.", config={"device": "cpu"})
    run = only_run(traindx.read(tape.folder))
    (tmp_path / "log.txt").write_text(text)
    plain = only_run(traindx.read(tmp_path / "log.txt"))
    assert run.format == "recording"
    assert run.axis == plain.axis == "epoch"
    assert set(run.series) == set(plain.series)
    for name, series in plain.series.items():
        np.testing.assert_array_equal(run.series[name].steps, series.steps)
        np.testing.assert_array_equal(run.series[name].values, series.values)
    assert run.settings == {"lr": 0.3, "device": "cpu"}
    assert run.events == (Event("out_of_memory", "RuntimeError: CUDA out of memory.", None),)
    assert "no optimizer step was recorded: this is what the script printed" in [n.text for n in run.notes]


def test_without_steps_and_without_text_rows_are_rows(tape: Tape) -> None:
    for n in range(40):
        tape.line(rss_bytes=1e9 + n)
        tape.line(log={"reward": n})
    run = only_run(traindx.read(tape.folder))
    assert run.axis == "row"
    assert run.series["rss_bytes"].steps.tolist() == list(range(40))
    assert run.series["reward"].values.tolist() == list(range(40))


def test_only_the_first_rank_is_heard(tmp_path: Path) -> None:
    for rank in (0, 1):
        tape = Tape(tmp_path / ".traindx" / "r", rank)
        for epoch in range(1, 4):
            tape.rows(2, loss=1.0 / epoch)
            tape.prints(f"epoch {epoch} val_loss {1.0 / epoch + rank:.3f}\n")
    run = only_run(traindx.read(tape.folder))
    assert points(run, "val/loss")[0] == (2, 1.0)
    assert set(run.series) == {"loss", "loss/rank1", "val/loss"}


def test_map_reaches_printed_columns(tape: Tape) -> None:
    for epoch in range(1, 5):
        tape.rows(2, loss=1.0 / epoch)
        tape.prints(f"epoch {epoch} train loss {3.0 / epoch:.3f}\n")
    run = only_run(traindx.read(tape.folder, mapping={"loss": "train loss"}))
    assert points(run, "loss")[0] == (2, 3.0)
    assert len(run.series["loss#2"]) == 8


@pytest.mark.parametrize(("printed", "observed", "kept"), [(0.6, 600.0, "printed"), (600.0, 0.6, "observed")])
def test_one_validation_loss_in_two_units(tape: Tape, printed: float, observed: float, kept: str) -> None:
    """Validation summed up and divided by the script: the unit of the training loss is taken."""
    for epoch in range(1, 6):
        tape.rows(4, loss=1.0 / epoch)
        tape.line(**{"val/loss": observed / epoch})
        tape.prints(f"epoch {epoch} val loss: {printed / epoch:.4f}\n")
    run = only_run(traindx.read(tape.folder))
    assert points(run, "val/loss")[0] == (4, 0.6)
    aside = "observed/val/loss" if kept == "printed" else "printed/val/loss"
    assert points(run, aside)[0] == (4, 600.0)


def test_names_of_further_optimizers(tape: Tape) -> None:
    tape.rows(3, **{"loss": 1.0, "lr": 0.1, "optimizer/D/lr": 0.2, "optimizer/D/lr/group1": 0.3})
    tape.line(**{"val/loss": 3.0, "val/loss/mse_loss": 2.0, "val/loss/cross_entropy": 1.0})
    run = only_run(traindx.read(tape.folder))
    assert set(run.series) == {
        *("loss", "lr", "optimizer/D/lr", "optimizer/D/lr/group1"),
        *("val/loss", "val/loss/mse_loss", "val/loss/cross_entropy"),
    }
