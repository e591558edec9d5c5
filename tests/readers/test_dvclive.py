from __future__ import annotations

from pathlib import Path

import traindx
from tests.readers.truth import SAMPLES, assert_logged, only_run, read_text, truth_of


def test_folder() -> None:
    run = only_run(traindx.read(str(SAMPLES / "dvclive" / "dvclive")))
    truth = truth_of("dvclive")
    assert run.format == "dvclive"
    assert_logged(run, truth["series"])
    assert run.settings["lr"] == truth["config"]["learning_rate"]
    assert run.config["optimizer.name"] == "sgd"
    assert run.series["grad_norm"].times is not None


def test_names_come_from_the_path(tmp_path: Path) -> None:
    for split, value in (("train", 1.0), ("val", 2.0)):
        folder = tmp_path / "dvclive" / "plots" / "metrics" / split
        folder.mkdir(parents=True)
        (folder / "box_loss.tsv").write_text(f"step\tbox_loss\n0\t{value}\n1\t{value / 2}\n1\t{value / 2}\n")
    run = only_run(traindx.read(str(tmp_path)))
    assert_logged(run, {"train/box_loss": [(0, 1.0), (1, 0.5)], "val/box_loss": [(0, 2.0), (1, 1.0)]})
    assert "val/loss" in run.series


def test_path_in_the_file_name(tmp_path: Path) -> None:
    name = "me__project__dvclive__plots__metrics__val__box_loss.tsv"
    run = only_run(read_text(tmp_path, name, "step\tbox_loss\n0\t1.5\n1\t1.25\n"))
    assert_logged(run, {"val/box_loss": [(0, 1.5), (1, 1.25)]})


def test_only_steps_is_no_metric(tmp_path: Path) -> None:
    found = read_text(tmp_path, "dvclive/plots/metrics/train/step.tsv", "step\n19.0\n39.0\n")
    assert not found.runs
    assert found.skipped
