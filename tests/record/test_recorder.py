"""The recorder without any framework: what it writes, what it leaves out, what it survives."""

from __future__ import annotations

import json
import math
import threading
from pathlib import Path
from typing import Any

import pytest

from traindx.observe.recorder import Recorder, Stopped, start


def told(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "rank-0.jsonl").read_text("utf-8").splitlines()][1:]


def rows(folder: Path) -> dict[str, list[object]]:
    """The columns of all blocks put together."""
    columns: dict[str, list[object]] = {}
    names: list[str] = []
    for line in told(folder):
        names = line.get("columns", names)
        if "rows" in line:
            block = dict(zip(names, line["rows"], strict=True))
            for name, values in block.items():
                same = [values] * len(block["step"])
                columns.setdefault(name, []).extend(values if isinstance(values, list) else same)
    return columns


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return start(tmp_path / "run", name="test")


def push(recorder: Recorder, **values: object) -> None:
    recorder.step += 1
    recorder.push(dict(values))


def test_rows_of_a_flush_are_one_line(recorder: Recorder) -> None:
    for loss in (1.0, 0.5, math.nan):
        push(recorder, loss=loss, lr=0.1)
    recorder.flush()
    named, line = told(recorder.folder)
    assert named == {"columns": ["loss", "lr", "t", "step"]}
    loss, lr, _, step = line["rows"]
    assert step == [1, 2, 3]
    assert lr == 0.1
    assert loss[:2] == [1.0, 0.5]
    assert math.isnan(loss[2])


def test_rows_are_not_overtaken_by_another_thread(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = recorder.journal.append
    others: list[threading.Thread] = []

    def slow(lines: bytes) -> bool:
        if not others:
            push(recorder, lr=0.2, loss=2.0)
            others.append(threading.Thread(target=recorder.flush))
            others[0].start()
            others[0].join(0.2)
        return append(lines)

    monkeypatch.setattr(recorder.journal, "append", slow)
    push(recorder, lr=0.1, loss=1.0)
    recorder.flush()
    others[0].join()
    found = rows(recorder.folder)
    assert (found["step"], found["lr"], found["loss"]) == ([1, 2], [0.1, 0.2], [1.0, 2.0])


def test_a_missing_value_is_a_gap(recorder: Recorder) -> None:
    push(recorder, loss=1.0, grad_norm=2.0)
    push(recorder, loss=0.5)
    recorder.flush()
    assert rows(recorder.folder)["grad_norm"] == [2.0, None]


def test_long_runs_keep_fewer_rows_but_every_nan(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("traindx.observe.recorder._ROWS_WHOLE", 100)
    for step in range(1, 1001):
        push(recorder, loss=math.nan if step in (333, 777) else 1.0)
    recorder.flush()
    steps = rows(recorder.folder)["step"]
    assert steps[:99] == list(range(1, 100))
    assert 333 in steps
    assert 777 in steps
    assert len(steps) < 350
    assert steps[-1] > 980


def test_samples_grow_rare_with_their_size(tmp_path: Path) -> None:
    def taken(layers: int) -> int:
        recorder = start(tmp_path / str(layers))
        count = 0
        for _ in range(20_000):
            recorder.step += 1
            if recorder.may_sample():
                recorder.sample({"layer": {"grad_norm": [0.123456] * layers}})
                count += 1
        recorder.flush()
        return count

    few, many = taken(2000), taken(10)
    assert few < 1000 < many
    assert (tmp_path / "2000" / "rank-0.jsonl").stat().st_size < 12e6


def test_events_of_a_kind_are_limited(recorder: Recorder) -> None:
    for number in range(200):
        recorder.event("overflow", f"number {number}")
    recorder.event("other", "still told")
    recorder.flush()
    kinds = [line["event"] for line in told(recorder.folder) if "event" in line]
    assert kinds.count("overflow") == 50
    assert kinds.count("other") == 1


def test_output_is_kept_with_its_step_and_bars_with_their_last_state(recorder: Recorder) -> None:
    recorder.output("out", "before\n")
    recorder.step = 3
    for percent in range(100):
        recorder.output("err", f"\r{percent} %")
    recorder.output("out", "after\n")
    recorder.flush()
    chunks = [line for line in told(recorder.folder) if "out" in line or "err" in line]
    assert [(line["step"], line.get("out"), line.get("err")) for line in chunks] == [
        (0, "before\n", None),
        (3, None, "\r99 %"),
        (3, "after\n", None),
    ]


def test_endless_output_does_not_fill_the_disk(recorder: Recorder) -> None:
    for _ in range(3000):
        recorder.output("out", "x" * 3000 + "\n")
        recorder.flush()
    recorder.close("finished")
    assert (recorder.folder / "rank-0.jsonl").stat().st_size < 6e6
    facts = json.loads((recorder.folder / "run.json").read_text())
    assert any(one["what"] == "printed output" for one in facts["unseen"])


def test_a_probe_that_fails_is_told_once(recorder: Recorder) -> None:
    recorder.failed("layers", RuntimeError("broken\nin two lines"))
    recorder.failed("layers", RuntimeError("again"))
    recorder.close("finished")
    events = [line for line in told(recorder.folder) if line.get("event") == "probe_failed"]
    assert [event["text"] for event in events] == ["layers: RuntimeError: broken"]
    assert json.loads((recorder.folder / "run.json").read_text())["unseen"][0]["what"] == "layers"


def test_it_stops_after_the_steps_asked_for(tmp_path: Path) -> None:
    recorder = start(tmp_path / "run", steps=2)
    recorder.step = 1
    recorder.check_stop()
    recorder.step = 2
    with pytest.raises(Stopped) as stopped:
        recorder.check_stop()
    assert stopped.value.code == 0


def test_it_stops_when_asked_from_outside(recorder: Recorder) -> None:
    (recorder.folder / "stop").write_text("the loss is NaN\n")
    recorder._stop_checked_at = 0.0
    recorder.tick()
    with pytest.raises(Stopped, match="0"):
        recorder.check_stop()


def test_what_could_not_be_written_is_told_when_it_can_be_again(recorder: Recorder) -> None:
    path = recorder.journal.path
    path.symlink_to("/dev/full")
    push(recorder, loss=1.0)
    recorder.flush()
    assert recorder.journal.dropped == 2
    recorder.journal.close()
    path.unlink()
    push(recorder, loss=0.5)
    recorder.flush()
    recorder.close("finished")
    assert rows(recorder.folder)["loss"] == [0.5]
    assert [line["text"] for line in told(recorder.folder) if line.get("event") == "recording_gap"]
    assert json.loads((recorder.folder / "run.json").read_text())["dropped"] == 2


def test_the_end_is_in_both_files(recorder: Recorder) -> None:
    recorder.step = 7
    recorder.close("exception", "ValueError: bad")
    recorder.close("finished")
    facts = json.loads((recorder.folder / "run.json").read_text())
    assert facts["ended"]["how"] == "exception"
    assert facts["ended"]["step"] == 7
    assert facts["started"] == pytest.approx(recorder.started, abs=0.01)
    assert told(recorder.folder)[-1]["event"] == "ended"
