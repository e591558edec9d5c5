"""Event files against TensorBoard's own reader, and the quirks of folders of them."""

from __future__ import annotations

import gzip
import json
import math
import random
import struct
from collections.abc import Iterable
from pathlib import Path

import google_crc32c
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.util import tensor_util

import traindx
from traindx.logs.formats import tensorboard
from traindx.logs.log_file import File
from traindx.logs.tfevents import crc as checksums
from traindx.logs.tfevents import record as records
from traindx.logs.tfevents.runs import Tracks

SAMPLES = Path(__file__).parents[1] / "samples" / "tensorboard"
NAME = "events.out.tfevents.1700000000.host"


def record(payload: bytes) -> bytes:
    size = struct.pack("<Q", len(payload))
    crc = [struct.pack("<I", checksums.masked(google_crc32c.value(part))) for part in (size, payload)]
    return size + crc[0] + payload + crc[1]


def scalar(tag: str, value: float, step: int = 0, wall: float = 1.7e9) -> Event:
    event = Event(wall_time=wall + step, step=step)
    event.summary.value.add(tag=tag, simple_value=value)
    return event


def write(folder: Path, events: Iterable[Event], name: str = NAME) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(b"".join(record(event.SerializeToString()) for event in events))
    return path


def ours(path: Path) -> tuple[Tracks, File]:
    file = File(path)
    return tensorboard._content(file)[0], file


def points(tracks: Tracks) -> dict[str, list[tuple[float, float, float]]]:
    return {
        tag: list(zip(t.times.tolist(), t.steps.tolist(), t.values.tolist(), strict=True))
        for tag, t in tracks.items()
    }


def oracle(path: Path) -> dict[str, list[tuple[float, float, float]]]:
    accumulator = EventAccumulator(
        str(path), size_guidance={"scalars": 0, "tensors": 0}, purge_orphaned_data=False
    ).Reload()
    found = {
        tag: [(e.wall_time, float(e.step), e.value) for e in accumulator.Scalars(tag)]
        for tag in accumulator.Tags()["scalars"]
    }
    for tag in accumulator.Tags()["tensors"]:
        plugin = (
            accumulator.summary_metadata[tag].plugin_data.plugin_name
            if tag in accumulator.summary_metadata
            else ""
        )
        if plugin not in ("", "scalars"):
            continue
        rows = []
        for e in accumulator.Tensors(tag):
            try:
                tensor = tensor_util.make_ndarray(e.tensor_proto)
            except (ValueError, TypeError):
                continue
            if (tensor.size == 1 and tensor.dtype.kind in "fiub") or str(tensor.dtype) == "bfloat16":
                rows.append((e.wall_time, float(e.step), float(tensor.reshape(()).item())))
        if rows:
            found[tag] = rows
    return {tag: rows for tag, rows in found.items() if rows}


def same(
    a: dict[str, list[tuple[float, float, float]]], b: dict[str, list[tuple[float, float, float]]]
) -> None:
    assert a.keys() == b.keys()
    for tag in a:
        np.testing.assert_array_equal(np.array(a[tag]), np.array(b[tag]), err_msg=tag)


# --- generated streams -------------------------------------------------------------------------

CONTENT = {
    1: "<f4",
    2: "<f8",
    3: "<i4",
    4: "u1",
    5: "<i2",
    6: "i1",
    9: "<i8",
    17: "<u2",
    19: "<f2",
    22: "<u4",
    23: "<u8",
}
FIELDS = {
    1: "float_val",
    2: "double_val",
    3: "int_val",
    9: "int64_val",
    10: "bool_val",
    19: "half_val",
}
numbers = st.one_of(
    st.floats(width=32),
    st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf, 1e-45]),
    st.integers(0, 100).map(float),
)
steps = st.one_of(
    st.integers(0, 300),
    st.integers(0, 2**21),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([0, 127, 128, 2**49, 2**56]),
)
short_names = st.sampled_from(
    ["a", "loss", "train/loss", "train/lossy", "", "é/λ", "x" * 130, "\x15", "a/b/c/d/e/f"]
)


@st.composite
def summary_values(draw: st.DrawFn) -> Summary.Value:
    form = draw(
        st.sampled_from(
            ["simple"] * 4 + ["content"] * 3 + ["field"] * 3 + ["image", "histogram", "text", "vector"]
        )
    )
    value = Summary.Value(tag=draw(short_names) + form)
    number = draw(numbers)
    if form == "simple":
        value.simple_value = number
    elif form in ("content", "field"):
        _tensor(draw, value.tensor, form, number)
    elif form == "image":
        value.image.encoded_image_string = draw(st.binary(max_size=300))
    elif form == "histogram":
        value.histo.bucket.extend([1.0, 2.0])
    elif form == "text":
        value.tensor.dtype = 7
        value.tensor.string_val.append(draw(st.binary(max_size=20)))
        value.metadata.plugin_data.plugin_name = "text"
    else:
        value.tensor.CopyFrom(tensor_util.make_tensor_proto(np.arange(3.0)))
    if form in ("content", "field", "simple") and draw(st.booleans()):
        value.metadata.plugin_data.plugin_name = "scalars"
        value.metadata.summary_description = draw(st.sampled_from(["", "what it is"]))
    return value


def _tensor(draw: st.DrawFn, tensor: TensorProto, form: str, number: float) -> None:
    kind = draw(st.sampled_from(sorted(CONTENT if form == "content" else FIELDS)))
    tensor.dtype = kind
    tensor.tensor_shape.SetInParent()
    if draw(st.booleans()) and form == "content":
        tensor.tensor_shape.dim.add(size=1)
    whole = int(number) % 100 if math.isfinite(number) else 7
    if form == "content":
        array = np.array(number if "f" in CONTENT[kind] else whole)
        with np.errstate(over="ignore", invalid="ignore"):
            tensor.tensor_content = array.astype(CONTENT[kind]).tobytes()
    elif kind == 19:
        tensor.half_val.append(int(np.float16(whole).view(np.uint16)))
    else:
        getattr(tensor, FIELDS[kind]).append(number if kind < 3 else bool(whole) if kind == 10 else whole)


@st.composite
def events(draw: st.DrawFn) -> Event:
    event = Event(wall_time=draw(st.sampled_from([0.0, 1.7e9, 1.7e9 + 0.25, -1.0])), step=draw(steps))
    kind = draw(st.sampled_from(["summary"] * 12 + ["version", "graph", "session", "nothing"]))
    if kind == "summary":
        event.summary.value.extend(draw(st.lists(summary_values(), max_size=5)))
        event.summary.SetInParent()
    elif kind == "version":
        event.file_version = "brain.Event:2"
    elif kind == "graph":
        event.graph_def = draw(st.binary(max_size=500))
    elif kind == "session":
        event.session_log.status = SessionLog.START
    return event


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(stream=st.lists(events(), min_size=1, max_size=40), repeat=st.integers(1, 3))
def test_any_stream_reads_as_tensorboard_reads_it(
    stream: list[Event], repeat: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = write(
        tmp_path_factory.mktemp("any"), [Event(wall_time=1.0, file_version="brain.Event:2"), *stream * repeat]
    )
    found, file = ours(path)
    same(points(found), oracle(path))
    assert all("without scalars" in note.text for note in file.notes)


@pytest.mark.parametrize("form", ["simple", "content", "field"])
def test_shuffled_irregular_file(form: str, tmp_path: Path) -> None:
    rng = random.Random(3)
    path = write(tmp_path, _irregular(rng, form, 3000))
    same(points(ours(path)[0]), oracle(path))


def _irregular(rng: random.Random, form: str, count: int) -> Iterable[Event]:
    for _ in range(count):
        event = Event(
            wall_time=1.7e9 + rng.random(), step=rng.choice([rng.randrange(200), rng.randrange(2**30)])
        )
        for _ in range(rng.choice([1, 1, 1, 2, 5, 30])):
            number = rng.choice([rng.random(), math.nan, 0.0])
            tag = rng.choice(["train/", "val/"]) + "m" * rng.randrange(1, 40)
            value = event.summary.value.add(tag=tag)
            if form == "simple":
                value.simple_value = number
                continue
            value.tensor.dtype = 1
            value.tensor.tensor_shape.SetInParent()
            if form == "content":
                value.tensor.tensor_content = struct.pack("<f", number)
            else:
                value.tensor.float_val.append(number)
        yield event


def test_same_tag_in_several_layouts(tmp_path: Path) -> None:
    stream = []
    for step in range(200):
        event = Event(wall_time=1.7e9, step=step)
        value = event.summary.value.add(tag="loss")
        value.tensor.dtype = 1
        if step % 3 == 0:
            value.tensor.float_val.append(step)
        elif step % 3 == 1:
            value.tensor.tensor_content = struct.pack("<f", step)
        else:
            value.tensor.tensor_shape.SetInParent()
            value.tensor.double_val.append(step)
            value.tensor.dtype = 2
        stream.append(event)
    path = write(tmp_path, stream)
    same(points(ours(path)[0]), oracle(path))


def test_unsigned_fields_that_tensorboard_cannot_read(tmp_path: Path) -> None:
    event = Event(wall_time=1.0, step=3)
    event.summary.value.add(tag="a", tensor=TensorProto(dtype=22, uint32_val=[2**32 - 1]))
    event.summary.value.add(tag="b", tensor=TensorProto(dtype=23, uint64_val=[2**64 - 1]))
    event.summary.value.add(tag="c", tensor=TensorProto(dtype=14, half_val=[0x3FC0]))
    found = points(ours(write(tmp_path, [event]))[0])
    assert [found[tag][0][2] for tag in "abc"] == [2.0**32 - 1, 2.0**64, 1.5]


def test_many_tags(tmp_path: Path) -> None:
    path = write(tmp_path, (scalar(f"layer/{n}", n, step) for step in range(3) for n in range(3000)))
    same(points(ours(path)[0]), oracle(path))


def test_large_records_and_block_borders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "BLOCK_BYTES", 1000)
    stream = [scalar("loss", step, step) for step in range(500)]
    for at in (3, 100, 300):
        stream.insert(at, Event(wall_time=2.0, graph_def=bytes(range(256)) * (at * 3)))
    path = write(tmp_path, stream)
    assert len(points(ours(path)[0])["loss"]) == 500
    same(points(ours(path)[0]), oracle(path))


def test_records_inside_a_record_are_not_taken(tmp_path: Path) -> None:
    inner = b"".join(record(scalar("fake", 1.0, step).SerializeToString()) for step in range(5))
    stream = [scalar("loss", 1.0, 0), Event(wall_time=1.0, graph_def=inner * 3), scalar("loss", 2.0, 1)]
    assert points(ours(write(tmp_path, stream))[0]).keys() == {"loss"}


# --- damage ------------------------------------------------------------------------------------


def _small() -> list[Event]:
    stream = [Event(wall_time=1.0, file_version="brain.Event:2")]
    for step in range(6):
        stream += [scalar("train/loss", 1.0 / (1 + step), step), scalar("acc", step, step)]
    return stream


def test_truncated_at_every_byte(tmp_path: Path) -> None:
    data = write(tmp_path, _small()).read_bytes()
    whole = points(ours(tmp_path / NAME)[0])
    for end in range(len(data)):
        (tmp_path / NAME).write_bytes(data[:end])
        found = points(ours(tmp_path / NAME)[0])
        assert all(rows == whole[tag][: len(rows)] for tag, rows in found.items())
        traindx.read(str(tmp_path))


def test_flipped_bytes_lose_points_but_never_change_them(tmp_path: Path) -> None:
    data = write(tmp_path, _small()).read_bytes()
    whole = points(ours(tmp_path / NAME)[0])
    total = sum(map(len, whole.values()))
    for at in range(len(data)):
        torn = bytearray(data)
        torn[at] ^= 1 << (at % 8)
        (tmp_path / NAME).write_bytes(torn)
        found, file = ours(tmp_path / NAME)
        assert all(set(rows) <= set(whole[tag]) for tag, rows in points(found).items())
        assert sum(map(len, points(found).values())) >= total - 2
        assert file.notes


def test_noise_never_raises(tmp_path: Path) -> None:
    rng = random.Random(5)
    data = write(tmp_path, _irregular(rng, "simple", 60)).read_bytes()
    for _ in range(150):
        torn = bytearray(data)
        for _ in range(rng.randrange(1, 30)):
            at = rng.randrange(len(torn))
            torn[at : at + rng.randrange(3)] = rng.randbytes(rng.randrange(9))
        (tmp_path / NAME).write_bytes(torn)
        traindx.read(str(tmp_path))


def test_reading_goes_on_after_a_hole(tmp_path: Path) -> None:
    data = bytearray(write(tmp_path, (scalar("loss", s, s) for s in range(1000))).read_bytes())
    data[10_000:12_000] = bytes(2000)
    (tmp_path / NAME).write_bytes(data)
    run = traindx.read(str(tmp_path)).runs[0]
    assert 900 < len(run.series["loss"]) < 1000
    assert run.last_step == 999
    assert any("damaged" in note.text for note in run.notes)


def test_malformed_payload_with_a_sound_checksum(tmp_path: Path) -> None:
    good = scalar("loss", 1.0, 1).SerializeToString()
    rng = random.Random(1)
    junk = [bytes(b) for b in (good[:-1], good[:12], b"\x09", b"\xff" * 30, b"\x2a\xff\xff\xff\xff\x7f", b"")]
    for _ in range(300):
        odd = bytearray(good)
        odd[rng.randrange(len(odd))] = rng.randrange(256)
        junk.append(bytes(odd))
    path = tmp_path / NAME
    path.write_bytes(b"".join(record(payload) for payload in [good, *junk, good]))
    assert len(points(ours(path)[0])["loss"]) >= 2


def test_a_length_that_lies_takes_no_memory(tmp_path: Path) -> None:
    size = struct.pack("<Q", 1 << 45)
    lie = size + struct.pack("<I", checksums.masked(google_crc32c.value(size)))
    path = tmp_path / NAME
    path.write_bytes(record(scalar("loss", 1.0, 1).SerializeToString()) + lie + bytes(100))
    found, file = ours(path)
    assert len(points(found)["loss"]) == 1
    assert "cut off" in " ".join(note.text for note in file.notes)


# --- runs --------------------------------------------------------------------------------------


def ramp(tag: str, start: int, stop: int, add: float = 0.0, wall: float = 1.7e9) -> list[Event]:
    return [scalar(tag, add + 1.0 / (1 + s), s, wall) for s in range(start, stop)]


def test_splits_join_and_a_lone_train_is_a_run(tmp_path: Path) -> None:
    write(tmp_path / "a" / "train", ramp("epoch_loss", 0, 5))
    write(tmp_path / "a" / "validation", ramp("epoch_loss", 0, 5, 1))
    write(tmp_path / "detect" / "train", ramp("loss", 0, 5, 2))
    write(tmp_path / "detect" / "train2", ramp("loss", 0, 5, 3))
    runs = {Path(run.name).relative_to(tmp_path).as_posix(): run for run in traindx.read(str(tmp_path)).runs}
    assert runs.keys() == {"a", "detect/train", "detect/train2"}
    assert runs["a"].series["loss"].values[0] == 1
    assert runs["a"].series["val/loss"].values[0] == 2


def test_estimator_keeps_eval_below_the_run(tmp_path: Path) -> None:
    write(tmp_path / "model", ramp("loss", 0, 50))
    write(tmp_path / "model" / "eval", ramp("loss", 10, 12, 5))
    (run,) = traindx.read(str(tmp_path)).runs
    assert run.series["val/loss"].values.size == 2


def test_restart_in_one_folder_is_another_training(tmp_path: Path) -> None:
    write(tmp_path, ramp("loss", 0, 30), "events.out.tfevents.900.host")
    write(tmp_path, ramp("loss", 0, 20, 1), "events.out.tfevents.1000.host")
    runs = traindx.read(str(tmp_path)).runs
    assert [len(run.series["loss"]) for run in runs] == [30, 20]


def test_resume_supersedes(tmp_path: Path) -> None:
    write(tmp_path, ramp("loss", 0, 30) + ramp("val/loss", 25, 26), "events.out.tfevents.900.host")
    write(tmp_path, ramp("loss", 20, 40, 5), "events.out.tfevents.1000.host")
    (run,) = traindx.read(str(tmp_path)).runs
    assert run.series["loss"].steps.tolist() == list(range(40))
    assert run.series["loss"].values[20] > 5
    assert [event.kind for event in run.events] == ["resume"]


def test_continuing_files_join(tmp_path: Path) -> None:
    write(tmp_path, ramp("loss", 0, 30), "events.out.tfevents.900.host")
    write(tmp_path, [scalar("eval/loss", 1.0, 29)], "events.out.tfevents.950.host")
    write(tmp_path, ramp("loss", 30, 40), "events.out.tfevents.1000.host")
    (run,) = traindx.read(str(tmp_path)).runs
    assert len(run.series["loss"]) == 40
    assert not run.events


def test_a_writer_used_twice_parts_into_trainings(tmp_path: Path) -> None:
    first = [e for s in range(20) for e in (scalar("lr", 0.1, s), scalar("loss", 3 - s / 10, s))]
    second = [e for s in range(15) for e in (scalar("lr", 0.2, s), scalar("loss", 3 - s / 9, s))]
    write(tmp_path, first + second)
    runs = traindx.read(str(tmp_path)).runs
    assert [
        (len(r.series["loss"]), len(r.series["lr"]), r.series["lr"].values[0].round(3)) for r in runs
    ] == [
        (20, 20, 0.1),
        (15, 15, 0.2),
    ]


def test_steps_that_begin_anew_each_epoch_are_one_count(tmp_path: Path) -> None:
    write(tmp_path, [scalar("loss", 5 - (e * 10 + s) / 20, s) for e in range(6) for s in range(10)])
    (run,) = traindx.read(str(tmp_path)).runs
    assert run.series["loss"].steps.tolist() == list(range(60))
    assert (np.diff(run.series["loss"].values) < 0).all()


def test_points_at_one_step_are_counted(tmp_path: Path) -> None:
    write(tmp_path, [scalar("cost", 1.0 / n, 1) for n in range(1, 9)])
    (run,) = traindx.read(str(tmp_path)).runs
    assert run.axis == "row"
    assert run.series["loss"].steps.tolist() == list(range(8))


def test_gzip_and_prefixed_names(tmp_path: Path) -> None:
    data = write(tmp_path / "x", ramp("loss", 0, 30)).read_bytes()
    (tmp_path / f"proj__run1__{NAME}.gz").write_bytes(gzip.compress(data))
    (run,) = traindx.read(str(tmp_path / f"proj__run1__{NAME}.gz")).runs
    assert run.name == str(tmp_path / "proj__run1")
    assert len(run.series["loss"]) == 30


def test_file_without_scalars_says_what_it_holds(tmp_path: Path) -> None:
    write(
        tmp_path,
        [Event(wall_time=1.0, file_version="brain.Event:2"), Event(wall_time=1.0, graph_def=b"x" * 9999)],
    )
    found = traindx.read(str(tmp_path))
    assert not found.runs
    assert "1 graph" in found.skipped[0].text


@pytest.mark.parametrize(
    "text",
    [
        '{"learning_rate": 0.01, "optim": "sgd", "x": NaN}',
        "<pre>{'learning_rate': 0.01, 'optim': 'sgd'}</pre>",
        "|param|value|\n|-|-|\n|learning_rate|0.01|\n|optim|sgd|",
        "learning_rate: 0.01  \noptim: sgd",
        "Namespace(learning_rate=0.01, optim='sgd')",
        "- **learning_rate**: 0.01\n- **optim**: sgd",
    ],
)
def test_text_configuration(text: str, tmp_path: Path) -> None:
    event = Event(wall_time=1.0)
    value = event.summary.value.add(tag="args/text_summary")
    value.metadata.plugin_data.plugin_name = "text"
    value.tensor.dtype = 7
    value.tensor.string_val.append(text.encode())
    write(tmp_path, [event, *ramp("loss", 0, 3)])
    (run,) = traindx.read(str(tmp_path)).runs
    assert run.settings["lr"] == 0.01
    assert run.settings["optimizer"] == "sgd"


# --- samples of real libraries -----------------------------------------------------------------


@pytest.mark.parametrize("library", ["torch", "keras"])
def test_samples_hold_what_was_logged(library: str) -> None:
    truth = json.loads((SAMPLES / library / "truth.json").read_text())
    runs = {Path(run.name).name: run for run in traindx.read(str(SAMPLES / library)).runs}
    assert runs.keys() == truth.keys()
    for name, expected in truth.items():
        found = {(s.source, key.startswith("val/")): s for key, s in runs[name].series.items()}
        for logged, rows in expected["series"].items():
            split, _, tag = logged.rpartition(":")
            hits = [
                s
                for (source, val), s in found.items()
                if source == tag and (not split or val == split.startswith("val"))
            ]
            assert len(hits) == 1, logged
            assert hits[0].steps.tolist() == [row[0] for row in rows]
            np.testing.assert_allclose(hits[0].values, [float(row[1]) for row in rows], rtol=1e-6)
        for key, value in expected["config"].items():
            assert runs[name].config[key] == value
