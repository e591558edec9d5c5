from __future__ import annotations

import json
from pathlib import Path

import traindx
from tests.readers.truth import assert_logged, only_run


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
