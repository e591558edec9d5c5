"""One million TensorBoard scalars: traindx against EventAccumulator and TensorBoard's Rust data server.

The wish: 30 times less CPU than EventAccumulator (`size_guidance` 0), and no more wall time than the
Rust server takes from its start to numpy arrays over gRPC. Four files: `simple_value`, both tensor
forms, and one without any regularity. Every reading is a fresh process; imports are not counted, except
that the Rust server starts inside its time. traindx checks every checksum, the Rust server (as it
runs by default) none. All readings must give the same arrays.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import google_crc32c
import numpy as np

CPU_TARGET, WALL_TARGET = 30.0, 1.0
TAGS = 20
KINDS = ("simple_value", "tensor_content", "float_val", "irregular")
Arrays = dict[str, np.ndarray]


def record(payload: bytes) -> bytes:
    size = struct.pack("<Q", len(payload))
    sums = []
    for part in (size, payload):
        crc = google_crc32c.value(part)
        sums.append(struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF))
    return size + sums[0] + payload + sums[1]


def write(path: Path, kind: str, steps: int) -> None:
    """A file written through TensorBoard's own protobufs."""
    from tensorboard.compat.proto.event_pb2 import Event

    rng = random.Random(7)
    with open(path, "wb") as out:
        out.write(record(Event(wall_time=1.7e9, file_version="brain.Event:2").SerializeToString()))
        if kind == "irregular":
            _irregular(out, rng, steps)
            return
        for step in range(steps):
            for tag in range(TAGS):
                event = Event(wall_time=1.7e9 + step + tag / 100, step=step)
                _fill(event.summary.value.add(tag=f"train/metric_{tag}"), kind, rng.random())
                out.write(record(event.SerializeToString()))


def _irregular(out, rng: random.Random, steps: int) -> None:
    """Tags of different lengths in any order, several values per event, steps of every width."""
    from tensorboard.compat.proto.event_pb2 import Event

    names = [
        "/".join(rng.choices(["train", "loss", "a", "grad_norm", "layer"], k=rng.randrange(1, 6)))
        for _ in range(TAGS)
    ]
    queue = [f"{tag}_{name}" for tag, name in enumerate(names) for _ in range(steps)]
    rng.shuffle(queue)
    step = at = 0
    while at < len(queue):
        # a tag comes once per step, because the Rust server keeps one value of each step
        step += rng.choice((1, 1, 1, 1, 7, 300, 40_000))
        event = Event(wall_time=1.7e9 + at, step=step)
        for tag in queue[at : at + rng.choice((1, 1, 1, 2, 3, 12))]:
            if any(value.tag == tag for value in event.summary.value):
                break
            _fill(event.summary.value.add(tag=tag), "simple_value", rng.random())
            at += 1
        out.write(record(event.SerializeToString()))


def _fill(value, kind: str, number: float) -> None:
    if kind == "simple_value":
        value.simple_value = number
        return
    value.tensor.dtype = 1
    value.tensor.tensor_shape.SetInParent()
    value.metadata.plugin_data.plugin_name = "scalars"
    if kind == "tensor_content":
        value.tensor.tensor_content = struct.pack("<f", number)
    else:
        value.tensor.float_val.append(number)


def read_traindx(folder: str, _points: int) -> Arrays:
    import traindx

    (run,) = traindx.read(folder).runs
    return {s.source: np.stack([s.steps, s.times, s.values]) for s in run.series.values()}


def read_accumulator(folder: str, _points: int) -> Arrays:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util import tensor_util

    seen = EventAccumulator(folder, size_guidance={"scalars": 0, "tensors": 0}).Reload()
    found = {}
    for tag in seen.Tags()["scalars"]:
        found[tag] = np.array([(e.step, e.wall_time, e.value) for e in seen.Scalars(tag)]).T
    for tag in seen.Tags()["tensors"]:
        rows = [
            (e.step, e.wall_time, tensor_util.make_ndarray(e.tensor_proto).item()) for e in seen.Tensors(tag)
        ]
        found[tag] = np.array(rows).T
    return found


def read_rust(folder: str, points: int) -> Arrays:
    import grpc
    import tensorboard_data_server
    from tensorboard.data.proto import data_provider_pb2 as messages
    from tensorboard.data.proto import data_provider_pb2_grpc as service

    port_file = Path(folder).with_suffix(".port")
    port_file.unlink(missing_ok=True)
    command = [
        tensorboard_data_server.server_binary(),
        f"--logdir={folder}",
        "--port=0",
        f"--port-file={port_file}",
        "--die-after-stdin",
        "--reload=once",
        "--samples-per-plugin=scalars=all",
    ]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    while not port_file.exists() or not port_file.read_text().endswith("\n"):
        time.sleep(0.005)
    channel = grpc.insecure_channel(
        f"localhost:{port_file.read_text().strip()}", [("grpc.max_receive_message_length", 1 << 30)]
    )
    stub = service.TensorBoardDataProviderStub(channel)
    request = messages.ReadScalarsRequest(
        plugin_filter=messages.PluginFilter(plugin_name="scalars"),
        downsample=messages.Downsample(num_points=1 << 40),
    )
    # small questions while it loads, the large one when all is there
    probe = messages.ReadScalarsRequest()
    probe.CopyFrom(request)
    probe.downsample.num_points = 1
    deadline = time.perf_counter() + 60
    try:
        while time.perf_counter() < deadline:
            reply = stub.ReadScalars(probe)
            if any(run.tags for run in reply.runs):
                reply = stub.ReadScalars(request)
                if sum(len(tag.data.step) for run in reply.runs for tag in run.tags) >= points:
                    break
            time.sleep(0.02)
        return {
            tag.tag_name: np.array([tag.data.step, tag.data.wall_time, tag.data.value], dtype=float)
            for run in reply.runs
            for tag in run.tags
        }
    finally:
        channel.close()
        server.stdin.close()
        server.wait()


READERS = {"traindx": read_traindx, "EventAccumulator": read_accumulator, "Rust server": read_rust}


def _warm_imports(reader: str) -> None:
    if reader == "traindx":
        from traindx.core import units

        units.readers()
        from traindx.logs.tfevents import events, runs, text_config  # noqa: F401
    else:
        import grpc  # noqa: F401
        from tensorboard.backend.event_processing import event_accumulator  # noqa: F401
        from tensorboard.data.proto import data_provider_pb2_grpc  # noqa: F401


def peak() -> int:
    """Peak memory of this process in bytes; not from getrusage, which begins with the parent's peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def worker(reader: str, folder: str, points: int, out: str) -> None:
    """One reading; its CPU (children included), wall time and growth of memory go to standard output."""
    _warm_imports(reader)
    memory = peak()
    wall, cpu = time.perf_counter(), time.process_time()
    arrays = READERS[reader](folder, points)
    taken = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken["cpu"] += children.ru_utime + children.ru_stime
    taken["memory"] = peak() - memory
    np.savez(out, **{tag.replace("/", "|"): values for tag, values in arrays.items()})
    print(json.dumps(taken))


def measure(reader: str, folder: Path, points: int, repeat: int) -> tuple[dict[str, float], Arrays]:
    """The best of some readings, and the arrays of the last."""
    out = folder.with_suffix(".npz")
    command = [sys.executable, __file__, "--worker", reader, str(folder), str(points), str(out)]
    found = [
        json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(repeat)
    ]
    with np.load(out) as arrays:
        return {key: min(taken[key] for taken in found) for key in found[0]}, dict(arrays)


def equal(a: Arrays, b: Arrays) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[tag], b[tag], equal_nan=True) for tag in a)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--small", action="store_true", help="40,000 scalars: a quick pass, no target")
    options.add_argument("--worker", nargs=4, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.worker:
        reader, folder, points, out = chosen.worker
        worker(reader, folder, int(points), out)
        return 0
    steps = 2_000 if chosen.small else 50_000
    missed = []
    print(f"{steps * TAGS:,} scalars; seconds, and how many times the time of traindx")
    titles = ("CPU", "wall", "CPU x", "wall x")
    print(
        f"{'file':<16}{'MB':>6}  {'reader':<18}" + "".join(f"{t:>8}" for t in titles) + f"{'memory/file':>13}"
    )
    with tempfile.TemporaryDirectory() as scratch:
        for kind in KINDS:
            folder = Path(scratch, kind)
            folder.mkdir()
            path = folder / "events.out.tfevents.1700000000.host"
            write(path, kind, steps)
            size = path.stat().st_size
            ours, arrays = measure("traindx", folder, steps * TAGS, 5)
            for reader, repeat in (("traindx", 0), ("EventAccumulator", 1), ("Rust server", 3)):
                taken, theirs = (
                    (ours, arrays) if not repeat else measure(reader, folder, steps * TAGS, repeat)
                )
                cpu, wall = taken["cpu"] / ours["cpu"], taken["wall"] / ours["wall"]
                print(
                    f"{kind:<16}{size / 1e6:>6.0f}  {reader:<18}{taken['cpu']:>8.2f}{taken['wall']:>8.2f}"
                    f"{cpu:>8.1f}{wall:>8.1f}{taken['memory'] / size:>13.1f}",
                    flush=True,
                )
                if not equal(arrays, theirs):
                    missed.append(f"{kind}: not the arrays of the {reader}")
                if reader == "EventAccumulator" and cpu < CPU_TARGET:
                    missed.append(f"{kind}: {cpu:.0f}x the CPU")
                if reader == "Rust server" and wall < WALL_TARGET:
                    missed.append(f"{kind}: slower than the Rust server")
            path.unlink()
    print("missed: " + ", ".join(missed) if missed else "met")
    return 1 if missed and not chosen.small else 0


if __name__ == "__main__":
    raise SystemExit(main())
