from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import traindx
from tests.readers.truth import SAMPLES, assert_logged, only_run, read_text, truth_of

STATE = "trainer_state.json"


@pytest.mark.parametrize("name", ["healthy", "nan_hidden", "nan_shown"])
def test_samples(name: str) -> None:
    run = only_run(traindx.read(str(SAMPLES / "hf-trainer" / name)))
    truth = truth_of("hf-trainer")[name]
    assert run.format == "hf-trainer"
    assert_logged(run, truth["series"])
    assert {key: run.config[key] for key in truth["config"]} == truth["config"]
    for key, value in truth["summary"].items():
        assert run.config[f"summary.{key}"] == pytest.approx(value, rel=1e-3, nan_ok=True)


def test_checkpoints_count_once() -> None:
    folder = SAMPLES / "hf-trainer" / "healthy"
    run = only_run(traindx.read(str(folder)))
    assert run.path == str(folder)
    assert sum(file.endswith(STATE) for file in run.files) == 3


def test_hidden_nan_is_reported() -> None:
    run = only_run(traindx.read(str(SAMPLES / "hf-trainer" / "nan_hidden")))
    assert [event.kind for event in run.events] == ["nan_filter"]
    assert run.events[0].step == 8


def test_checkpoint_of_another_training_is_a_run_of_its_own(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "hf-trainer" / "healthy", tmp_path / "out")
    path = tmp_path / "out" / "checkpoint-6" / STATE
    state = json.loads(path.read_text())
    for row in state["log_history"]:
        row["epoch"] += 7
        if "loss" in row:
            row["loss"] += 5
    path.write_text(json.dumps(state))
    first, second = traindx.read(str(tmp_path)).runs
    assert len(first.series["loss"]) == 12
    assert len(second.series["loss"]) == 6
    assert second.name.endswith("out (checkpoint-6)")


def state(*rows: str, **more: object) -> str:
    return json.dumps(more)[:-1] + (", " if more else "") + f'"log_history": [{", ".join(rows)}]}}'


def test_bare_tokens_text_and_integers(tmp_path: Path) -> None:
    rows = (
        '{"loss": 1.5, "learning_rate": 5, "step": 1, "epoch": 1, "remaining_time": "59h:30m:19s"}',
        '{"loss": NaN, "grad_norm": Infinity, "learning_rate": 5, "step": 2, "epoch": 2}',
        '{"eval_loss": -Infinity, "step": 2, "epoch": 2}',
        '{"epoch": 2}',
    )
    run = only_run(read_text(tmp_path, STATE, state(*rows)))
    nan, inf = float("nan"), float("inf")
    assert_logged(
        run,
        {
            "loss": [(1, 1.5), (2, nan)],
            "learning_rate": [(1, 5), (2, 5)],
            "grad_norm": [(2, inf)],
            "eval_loss": [(2, -inf)],
            "epoch": [(1, 1), (2, 2)],
        },
    )
    assert run.series["val/loss"].source == "eval_loss"


def test_rows_without_step_take_it_from_the_epoch(tmp_path: Path) -> None:
    rows = [f'{{"loss": {9 - n}, "epoch": {n}, "step": {n * 100}}}' for n in (1, 2, 3)]
    rows += [f'{{"predict_bleu": {n}, "epoch": {n}}}' for n in (1, 2, 3)]
    run = only_run(read_text(tmp_path, STATE, state(*rows)))
    (bleu,) = (s for s in run.series.values() if s.source == "predict_bleu")
    assert bleu.steps.tolist() == [100, 200, 300]


def test_no_steps_at_all_counts_epochs(tmp_path: Path) -> None:
    run = only_run(read_text(tmp_path, STATE, state('{"loss": 2, "epoch": 1}', '{"loss": 1, "epoch": 2}')))
    assert run.axis == "epoch"
    assert run.series["loss"].steps.tolist() == [1, 2]


def test_summary_is_no_curve(tmp_path: Path) -> None:
    last = '{"train_loss": 1.25, "train_runtime": 9, "total_flos": 1e9, "step": 20}'
    content = state('{"loss": 2, "step": 10}', last, max_steps=20, train_batch_size=8)
    run = only_run(read_text(tmp_path, STATE, content))
    assert_logged(run, {"loss": [(10, 2)]})
    assert run.config["summary.train_loss"] == 1.25
    assert run.settings["batch_size"] == 8


@pytest.mark.parametrize("content", [state(), state('{"epoch": 1}')])
def test_empty_history_is_said(tmp_path: Path, content: str) -> None:
    found = read_text(tmp_path, STATE, content)
    assert not found.runs
    assert "empty" in found.skipped[0].text


@pytest.mark.parametrize("content", ["{}", '{"log_history": 3}', "{", "[]", '{"log_history": [1, "x"]}'])
def test_states_without_history(tmp_path: Path, content: str) -> None:
    found = read_text(tmp_path, STATE, content)
    assert not found.runs
    assert found.skipped


def test_git_lfs_pointer(tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    found = read_text(tmp_path, STATE, pointer)
    assert not found.runs
    assert "LFS" in found.skipped[0].text


def test_known_by_content_whatever_the_name(tmp_path: Path) -> None:
    for number in (1, 2):
        content = state(f'{{"loss": {number}, "step": 1}}', f'{{"loss": {number / 2}, "step": 2}}')
        (tmp_path / f"user__repo{number}__{STATE}").write_text(content)
    runs = traindx.read(str(tmp_path)).runs
    assert [run.format for run in runs] == ["hf-trainer"] * 2
    assert [run.series["loss"].values[0] for run in runs] == [1, 2]


def test_cut_off_state_keeps_its_rows(tmp_path: Path) -> None:
    content = (SAMPLES / "hf-trainer" / "healthy" / STATE).read_bytes()
    logged = [value for _, value in truth_of("hf-trainer")["healthy"]["series"]["loss"]]
    for end in range(600, len(content), 250):
        run = only_run(read_text(tmp_path, STATE, content[:end]))
        losses = run.series["loss"].values.tolist()
        assert losses == logged[: len(losses)]
        assert any("cut off" in note.text for note in run.notes)
