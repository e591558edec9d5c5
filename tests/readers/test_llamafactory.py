from __future__ import annotations

from pathlib import Path

import pytest

import traindx
from tests.readers.truth import SAMPLES, assert_logged, only_run, read_text, truth_of
from traindx.logs.formats.llamafactory import seconds

LOG = "trainer_log.jsonl"


def test_sample() -> None:
    run = only_run(traindx.read(str(SAMPLES / "llamafactory" / "run")))
    truth = truth_of("llamafactory")["run"]
    assert run.format == "llamafactory"
    assert_logged(run, truth["series"], only=False)
    assert {s.source for s in run.series.values()} == {*truth["series"], "elapsed_time"}
    assert run.settings["max_steps"] == truth["config"]["total_steps"]


def test_old_files_with_nulls(tmp_path: Path) -> None:
    rows = (
        '{"current_steps": 5, "total_steps": 20, "loss": 1.5, "eval_loss": null, "reward": null, '
        '"learning_rate": 5e-05, "epoch": 0.0, "elapsed_time": "0:03:29", "throughput": "0.50"}',
        '{"current_steps": 10, "total_steps": 20, "loss": NaN, "eval_loss": null, "reward": null, '
        '"learning_rate": 4e-05, "epoch": 0.5, "elapsed_time": "6 days, 15:04:12", "throughput": "0.75"}',
        '{"current_steps": 10, "total_steps": 20, "eval_loss": 2.5, "epoch": 0.5}',
        '{"current_steps": 20, "total_steps": 20, "loss": null, "learning_rate": null, "epo',
    )
    run = only_run(read_text(tmp_path, f"me__{LOG}", "\n".join(rows)))
    assert run.format == "llamafactory"
    assert_logged(
        run,
        {
            "loss": [(5, 1.5), (10, float("nan"))],
            "learning_rate": [(5, 5e-05), (10, 4e-05)],
            "eval_loss": [(10, 2.5)],
            "epoch": [(5, 0.0), (10, 0.5)],
            "elapsed_time": [(5, 209), (10, 572652)],
            "throughput": [(5, 0.5), (10, 0.75)],
        },
    )
    assert any("1 line(s)" in note.text for note in run.notes)


@pytest.mark.parametrize(
    ("text", "value"),
    [("0:00:28", 28), ("1 day, 0:00:01", 86401), ("9 days, 22:13:15", 857595), ("soon", None), ("", None)],
)
def test_seconds(text: str, value: float | None) -> None:
    assert seconds(text) == value


def test_next_to_a_trainer_state_it_is_one_run(tmp_path: Path) -> None:
    rows = [f'{{"current_steps": {n}, "total_steps": 3, "loss": {4 - n}, "lr": 0.1}}' for n in (1, 2, 3)]
    (tmp_path / LOG).write_text("\n".join(rows) + "\n")
    history = ", ".join(f'{{"step": {n}, "loss": {4 - n}, "grad_norm": 1.5}}' for n in (1, 2, 3))
    (tmp_path / "trainer_state.json").write_text(f'{{"log_history": [{history}]}}')
    run = only_run(traindx.read(str(tmp_path)))
    assert {"loss", "grad_norm", "lr"} <= set(run.series)
