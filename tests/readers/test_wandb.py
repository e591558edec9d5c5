"""W&B offline runs: samples by wandb itself, and its quirks on small inputs."""

from __future__ import annotations

import json
import math
import random
import shutil
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

import traindx
from traindx.core.nouns import Run
from traindx.logs import wandb_store
from traindx.logs.log_file import File

SAMPLES = Path(__file__).parents[1] / "samples" / "wandb" / "offline"
TRUTH = json.loads((SAMPLES / "truth.json").read_text())


def folder_of(name: str) -> Path:
    return next(SAMPLES.glob(f"offline-run-*-{name}"))


def assert_holds(run: Run, expected: dict[str, dict[str, list[tuple[float, str | float]]]]) -> None:
    found = {series.source: series for series in run.series.values()}
    assert found.keys() == expected["series"].keys()
    for name, rows in expected["series"].items():
        assert found[name].steps.tolist() == [row[0] for row in rows], name
        np.testing.assert_array_equal(found[name].values, [float(row[1]) for row in rows], err_msg=name)


@pytest.mark.parametrize("name", TRUTH)
def test_samples_hold_what_was_logged(name: str) -> None:
    (run,) = traindx.read(str(folder_of(name))).runs
    assert_holds(run, TRUTH[name])
    assert run.settings["lr"] == 0.001
    assert run.config["optimizer.name"] == "adam"
    assert run.config["amp"] is True


def test_times_come_from_the_timestamp() -> None:
    (run,) = traindx.read(str(folder_of("history"))).runs
    times = run.series["loss"].times
    assert times is not None
    assert (times > 1.6e9).all()


def test_latest_run_is_no_other_run(tmp_path: Path) -> None:
    real = tmp_path / "wandb" / folder_of("history").name
    shutil.copytree(folder_of("history"), real)
    (tmp_path / "wandb" / "latest-run").symlink_to(real.name)
    (run,) = traindx.read(str(tmp_path)).runs
    assert run.name == str(real)


def summary(folder: Path, text: str, config: str = "") -> Path:
    files = folder / "run-20240504_075404-o45411z1" / "files"
    files.mkdir(parents=True)
    (files / "wandb-summary.json").write_text(text)
    if config:
        (files / "config.yaml").write_text(config)
    return files.parent


def test_summary_alone_gives_last_values(tmp_path: Path) -> None:
    text = '{"_step":107124,"train/loss":NaN,"_timestamp":1.77e+09,"val/ppl":42.0,"_wandb":{"runtime":5}}'
    config = "wandb_version: 1\n\n_wandb:\n  desc: null\n  value:\n    python: 3.10\n"
    config += "lr:\n  desc: null\n  value: 0.01\n"
    folder = summary(tmp_path, text, config)
    (run,) = traindx.read(str(tmp_path)).runs
    assert run.name == str(folder)
    assert run.series["val/perplexity"].steps.tolist() == [107124]
    assert math.isnan(run.series["loss"].values[0])
    assert dict(run.config) == {"lr": 0.01}
    assert "only the summary" in run.notes[0].text


def test_summary_of_a_trainer_is_at_its_global_step(tmp_path: Path) -> None:
    summary(tmp_path, '{"_step": 132, "train/global_step": 31500, "eval/loss": 1.13}')
    (run,) = traindx.read(str(tmp_path)).runs
    assert run.series["val/loss"].steps.tolist() == [31500]


@pytest.mark.parametrize("text", ["{}", '{"_wandb":{"runtime":40}}', "{torn", "[1]", '{"a": "text"}'])
def test_summary_without_metrics_is_no_run(text: str, tmp_path: Path) -> None:
    summary(tmp_path, text)
    assert not traindx.read(str(tmp_path)).runs


# --- the datastore -----------------------------------------------------------------------------


def field(number: int, payload: bytes | int) -> bytes:
    if isinstance(payload, int):
        return _varint(number << 3) + _varint(payload)
    return _varint(number << 3 | 2) + _varint(len(payload)) + payload


def _varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def row(step: int, **values: str) -> bytes:
    items = b"".join(
        field(1, field(2, key.encode()) + field(16, text.encode())) for key, text in values.items()
    )
    return field(2, items + field(2, field(1, step)))


def store(records: list[bytes]) -> bytes:
    data = b":W&B\xe1\xbe\x00"
    for record in records:
        first = True
        while first or record:
            room = 32768 - len(data) % 32768
            if room < 7:
                data += bytes(room)
                room = 32768
            piece, record = record[: room - 7], record[room - 7 :]
            kind = (2 if record else 1) if first else (3 if record else 4)
            crc = zlib.crc32(piece, zlib.crc32(bytes([kind])))
            data += struct.pack("<IHB", crc, len(piece), kind) + piece
            first = False
    return data


def write(folder: Path, data: bytes) -> Path:
    path = folder / "run-abc.wandb"
    path.write_bytes(data)
    return path


def test_records_longer_than_a_block_and_damaged_blocks(tmp_path: Path) -> None:
    filler = json.dumps("x" * 700)
    rows = [row(step, loss=str(1 / (1 + step)), note=filler) for step in range(200)]
    rows.insert(50, row(1000, loss="7", note=json.dumps("y" * 80_000)))
    data = store(rows)
    found = wandb_store.read_store(File(write(tmp_path, data)))
    assert found.columns["_step"][0] == list(range(201))
    assert found.columns["loss"][1][50] == 7
    torn = bytearray(data)
    torn[40_000] ^= 255
    found = wandb_store.read_store(File(write(tmp_path, bytes(torn))))
    assert found.lost
    assert 100 < found.rows < 201
    assert found.columns["_step"][1][-1] == 199


def test_typed_items_nan_and_odd_keys(tmp_path: Path) -> None:
    def item(key: str, number: int, payload: bytes) -> bytes:
        return field(1, field(1, key.encode()) + _varint(number << 3 | (1 if number == 6 else 0)) + payload)

    typed = item("a", 4, b"\x01") + item("b", 5, _varint(7)) + item("c", 6, struct.pack("<d", 2.5))
    odd = field(1, field(2, b"\xc2\x82\x01k") + field(16, b"3"))
    rows = [
        field(2, typed + odd + field(2, field(1, 5))),
        row(6, a="NaN", b="-Infinity", c='"NaN"', d='{"e": 1}'),
    ]
    columns = wandb_store.read_store(File(write(tmp_path, store(rows * 2)))).columns
    assert columns["a"][1][0] == 1
    assert math.isnan(columns["a"][1][1])
    assert columns["b"][1][:2] == [-4, -math.inf]
    assert columns["c"][1][0] == 2.5
    assert columns["d.e"][1] == [1, 1]
    assert columns["\x82\x01k"][1] == [3, 3]


def measured(second: int, **values: str) -> bytes:
    """A record of W&B's system metrics; `__` in a key is a dot."""
    items = b"".join(
        field(3, field(1, key.replace("__", ".").encode()) + field(16, text.encode()))
        for key, text in values.items()
    )
    return field(7, field(2, field(1, second) + field(2, 500_000_000)) + items)


def test_system_metrics_are_at_the_steps_of_their_time(tmp_path: Path) -> None:
    history = [row(step, loss=str(1 / (1 + step)), _timestamp=str(1000 + 10 * step)) for step in range(20)]
    system = [
        measured(
            1000 + 25 * at,
            gpu__0__gpu="42.5",
            gpu__0__memoryAllocated=str(90 + at),
            gpu__0__memory="7",
            gpu__0__temp="60",
            memory="12",
            proc__memory__rssMB=str(100 + at),
        )
        for at in range(8)
    ]
    (run,) = traindx.read(write(tmp_path, store([*history, *system]))).runs
    assert set(run.series) == {"loss", "gpu_busy_share", "gpu_mem_share", "rss_bytes"}
    assert set(run.series["gpu_busy_share"].values) == {0.425}
    memory = run.series["gpu_mem_share"]
    assert memory.steps.tolist() == [0, 2, 5, 7, 10, 12, 15, 17]
    assert memory.values.tolist() == pytest.approx([0.9 + at / 100 for at in range(8)])
    assert run.series["rss_bytes"].values[0] == 100e6


def test_history_truncated_at_every_byte(tmp_path: Path) -> None:
    data = (folder_of("global_step") / "run-global_step.wandb").read_bytes()
    whole = wandb_store.read_store(File(write(tmp_path, data))).columns["train/loss"][1]
    for end in range(0, len(data), 3):
        path = write(tmp_path, data[:end])
        found = wandb_store.read_store(File(path)).columns.get("train/loss", ([], []))[1]
        assert found == whole[: len(found)]
        traindx.read(str(tmp_path))


def test_noise_never_raises(tmp_path: Path) -> None:
    rng = random.Random(2)
    data = (folder_of("defined") / "run-defined.wandb").read_bytes()
    for _ in range(300):
        torn = bytearray(data)
        for _ in range(rng.randrange(1, 6)):
            torn[rng.randrange(len(torn))] = rng.randrange(256)
        write(tmp_path, bytes(torn))
        traindx.read(str(tmp_path))


def test_sound_blocks_of_malformed_records(tmp_path: Path) -> None:
    rng = random.Random(4)
    good = row(3, loss="0.5", other="1.5")
    junk = []
    for _ in range(500):
        odd = bytearray(good)
        odd[rng.randrange(len(odd))] = rng.randrange(256)
        junk.append(bytes(odd))
    found = wandb_store.read_store(File(write(tmp_path, store([good, *junk, good]))))
    assert found.rows > 100
    traindx.read(str(tmp_path))


def test_printed_output_belongs_to_the_run(tmp_path: Path) -> None:
    files = tmp_path / "wandb" / "run-20240101_000000-abc" / "files"
    files.mkdir(parents=True)
    (files / "wandb-summary.json").write_text('{"_wandb": {"runtime": 40}}')
    (files / "output.log").write_text("".join(f"step {i} loss {1 / (i + 1):.4f}\n" for i in range(9)))
    (run,) = traindx.read(tmp_path).runs
    assert len(run.series["loss"]) == 9
    assert "printed" in run.notes[0].text
