"""`traindx doctor`: measured facts of this machine, and of machines whose files are laid out here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from traindx.cli import cli
from traindx.doctor import cgroup, frameworks, interpreter, memory, of_script, processor, versions
from traindx.doctor.line import DoctorLine, Surroundings, size

SCRIPT = """\
import torch
from torch.utils.data import DataLoader
loader = DataLoader(range(9), num_workers={workers})
"""
SLOW = """\
import time, torch
class Slow(torch.utils.data.Dataset):
    def __len__(self): return 640
    def __getitem__(self, i):
        time.sleep(0.002)
        return torch.randn(8), torch.tensor(i % 2)
model = torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for x, y in torch.utils.data.DataLoader(Slow(), 8):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
"""


def call(*args: str) -> Result:
    return CliRunner().invoke(cli, ["doctor", *args])


def states(lines: list[DoctorLine]) -> dict[str, str]:
    return {line.id: line.state for line in lines}


def tree(root: Path, files: dict[str, str]) -> Surroundings:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return Surroundings(root, root=root, environ={})


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What the real command says of this machine."""
    folder = tmp_path_factory.mktemp("here")
    command = [sys.executable, "-m", "traindx", "doctor", "--json", "--timeout", "60"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    assert done.returncode == (found["verdict"] == "problem")
    assert list(folder.iterdir()) == [], "it leaves nothing behind"
    return found


def test_this_machine_is_measured(document: dict[str, object]) -> None:
    assert document["schema"] == "traindx/doctor/1"
    lines = {line["id"]: line for line in document["lines"]}  # type: ignore[attr-defined]
    assert {"python", "pytorch", "device", "cores", "threads", "memory", "disk_space", "disk_speed"} <= set(
        lines
    )
    assert {"clock", "terminal", "start_method"} <= set(lines)
    assert lines["disk_speed"]["numbers"]["bytes_per_second"] > 0
    assert all(line["advice"] for line in lines.values() if line["state"] in ("note", "problem"))


def test_a_normal_machine_raises_no_alarm(document: dict[str, object]) -> None:
    spoilt = [line for line in document["lines"] if line["state"] == "problem"]  # type: ignore[attr-defined]
    assert spoilt == []


def test_more_threads_than_cores(tmp_path: Path) -> None:
    """The variable alone is a note; that PyTorch follows it is the problem."""
    environ = {**os.environ, "OMP_NUM_THREADS": "64"}

    def run(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, *words], capture_output=True, text=True, cwd=tmp_path, env=environ, check=False
        )
        return done.stdout

    real = int(run("-c", "import torch; print(torch.get_num_threads())"))
    document = json.loads(run("-m", "traindx", "doctor", "--json", "--timeout", "60"))
    (line,) = [line for line in document["lines"] if line["id"] == "threads"]
    assert line["state"] == ("problem" if real == 64 else "note")
    assert line["numbers"]["threads"] == real
    assert line["advice"].startswith("export OMP_NUM_THREADS=")


GROUP_2 = {"proc/self/cgroup": "0::/job\n", "sys/fs/cgroup/job/cpu.max": "150000 100000\n"}
GROUP_1 = {
    "proc/self/cgroup": "4:memory:/job\n1:cpu,cpuacct:/job\n",
    "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "150000\n",
    "sys/fs/cgroup/cpu/job/cpu.cfs_period_us": "100000\n",
}


@pytest.mark.parametrize("files", [GROUP_2, GROUP_1], ids=["version 2", "version 1"])
def test_the_quota_of_a_container_is_read(tmp_path: Path, files: dict[str, str]) -> None:
    place = tree(tmp_path, files)
    assert cgroup.cores(place) == 1.5
    assert processor.usable(place) <= 1.5
    found = states(list(processor.lines(place, {"threads": 64, "cuda_available": False})))
    assert found["threads"] == "problem"
    assert states(list(processor.lines(place, {"threads": 1, "cuda_available": False})))["threads"] == "ok"


@pytest.mark.parametrize(
    "files",
    [{}, {"sys/fs/cgroup/cpu.max": "max 100000"}, {"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1"}],
    ids=["no groups", "version 2", "version 1"],
)
def test_without_a_quota_nothing_is_limited(tmp_path: Path, files: dict[str, str]) -> None:
    place = tree(tmp_path, files)
    assert cgroup.cores(place) is None
    assert cgroup.memory(place) is None
    assert "cpu_throttled" not in states(list(processor.lines(place, None)))


def test_throttling_and_kills_are_counted(tmp_path: Path) -> None:
    place = tree(
        tmp_path,
        {
            "sys/fs/cgroup/cpu.stat": "nr_periods 100\nnr_throttled 60\n",
            "sys/fs/cgroup/memory.events": "oom 2\noom_kill 2\n",
        },
    )
    assert states(list(processor.lines(place, None)))["cpu_throttled"] == "note"
    assert states(list(memory.lines(place, None)))["oom_kills"] == "note"


def meminfo(free: int) -> dict[str, str]:
    return {"proc/meminfo": f"MemTotal: 16000000 kB\nMemAvailable: {free} kB\n"}


@pytest.mark.parametrize(("free", "state"), [(12_000_000, "ok"), (1_500_000, "note"), (300_000, "problem")])
def test_free_memory(tmp_path: Path, free: int, state: str) -> None:
    assert states(list(memory.lines(tree(tmp_path, meminfo(free)), None)))["memory"] == state


def test_the_limit_of_a_container_counts_before_that_of_the_machine(tmp_path: Path) -> None:
    limits = {"sys/fs/cgroup/memory.max": str(2**30), "sys/fs/cgroup/memory.current": str(9 * 2**27)}
    (line,) = [
        one for one in memory.lines(tree(tmp_path, meminfo(12_000_000) | limits), None) if one.id == "memory"
    ]
    assert (line.state, line.numbers["total"]) == ("problem", 2**30)


@pytest.mark.parametrize(("workers", "state"), [(4, "problem"), (0, "note"), (None, "note")])
def test_small_shared_memory_matters_to_workers(tmp_path: Path, workers: int | None, state: str) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "shm").symlink_to("/proc")  # a file system of no size
    assert (
        states(list(memory.lines(Surroundings(tmp_path, root=tmp_path), workers)))["shared_memory"] == state
    )


def installed(folder: Path, name: str, version: str, *needs: str) -> None:
    place = folder / f"{name}-{version}.dist-info"
    place.mkdir()
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {name}",
        f"Version: {version}",
        *(f"Requires-Dist: {n}" for n in needs),
    ]
    (place / "METADATA").write_text("\n".join(lines) + "\n")


def test_packages_that_do_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, "torchvision", "0.5", "torch==1.4", "pillow>=4")
    installed(tmp_path, "trl", "0.9", "transformers<1", "torch>=99; python_version < '3'")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = {line.id: line for line in versions.lines(Surroundings(tmp_path))}
    assert found["mismatch_torchvision"].state == "problem"
    assert found["mismatch_torchvision"].advice == "pip install 'torch==1.4'"
    assert found["mismatch_trl"].state == "note"
    assert "transformers<1" in found["mismatch_trl"].fact


@pytest.mark.parametrize(
    ("name", "version", "known"),
    [
        ("transformers", "4.45.2", True),
        ("transformers", "4.47.1", True),
        ("transformers", "4.48.0", False),
        ("torch", "2.9.0", True),
        ("torch", "2.9.0+cpu", False),
    ],
)
def test_versions_known_to_be_bad(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, version: str, known: bool
) -> None:
    installed(tmp_path, name, version)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert (f"known_{name}" in states(list(versions.lines(Surroundings(tmp_path))))) == known


def test_a_framework_that_cannot_be_imported(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text(
        "raise ImportError('libcudart.so.11.0: cannot open shared object file')"
    )
    place = Surroundings(tmp_path, environ={**os.environ, "PYTHONPATH": str(tmp_path)}, seconds=60)
    (line,) = [
        one for one in frameworks.lines(place, frameworks.probe("torch", place), None) if one.id == "pytorch"
    ]
    assert line.state == "problem"
    assert "libcudart.so.11.0" in line.fact


def test_a_framework_that_takes_long_is_not_judged(tmp_path: Path) -> None:
    place = Surroundings(tmp_path, seconds=0.05)
    (line,) = [
        one for one in frameworks.lines(place, frameworks.probe("torch", place), None) if one.id == "pytorch"
    ]
    assert line.state == "not_checked"
    assert frameworks.probe("no_such_framework", place) is None


TORCH = {
    "version": "2.6.0",
    "cuda": None,
    "hip": None,
    "cuda_available": False,
    "mps": False,
    "threads": 2,
    "capability": "AVX2",
    "numpy": "",
    "openmp": ["libgomp"],
    "seconds": 1.0,
}
GPU = {"name": "NVIDIA L4", "free": 20e9, "total": 24e9, "fits": True}


@pytest.mark.parametrize(
    ("changes", "id", "state"),
    [
        ({}, "device", "problem"),
        ({"cuda": "12.4"}, "device", "problem"),
        ({"cuda": "12.4", "cuda_available": True, "devices": [GPU]}, "device", "ok"),
        ({"cuda": "12.4", "cuda_available": True, "devices": [GPU | {"fits": False}]}, "device", "problem"),
        ({"cuda": "12.4", "cuda_available": True, "devices": [GPU | {"free": 1e9}]}, "device", "note"),
        ({"numpy": "Numpy is not available"}, "torch_numpy", "problem"),
        ({"openmp": ["libgomp", "libiomp5"]}, "openmp", "note"),
        ({"capability": "DEFAULT"}, "torch_vectors", "note"),
    ],
)
def test_a_machine_with_a_gpu(tmp_path: Path, changes: dict[str, object], id: str, state: str) -> None:
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho NVIDIA L4\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    place = Surroundings(tmp_path, environ={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert states(list(frameworks.lines(place, TORCH | changes, None)))[id] == state


def test_a_backend_of_keras_that_is_not_installed(tmp_path: Path) -> None:
    def state(**environ: str) -> str:
        return states(list(frameworks.lines(Surroundings(tmp_path, environ=environ), None, None)))["keras"]

    assert state(KERAS_BACKEND="torch") == "ok"
    assert state(KERAS_BACKEND="mxnet") == "problem"
    (tmp_path / "keras.json").write_text('{"backend": "theano"}')
    assert state(KERAS_HOME=str(tmp_path)) == "problem"


@pytest.mark.parametrize(
    ("environ", "state"),
    [
        ({"CUDA_LAUNCH_BLOCKING": "1"}, "problem"),
        ({"CUDA_LAUNCH_BLOCKING": "0"}, None),
        ({"CUDA_VISIBLE_DEVICES": ""}, "note"),
        ({"CUDA_VISIBLE_DEVICES": "0"}, None),
        ({"PYTHONOPTIMIZE": "2"}, "note"),
    ],
)
def test_variables_that_slow_or_spoil(tmp_path: Path, environ: dict[str, str], state: str | None) -> None:
    (name,) = environ
    found = states(list(interpreter.lines(Surroundings(tmp_path, environ=environ))))
    assert found.get(f"variable_{name}") == state


def of(script: Path) -> dict[str, str]:
    place = Surroundings(script.parent, script)
    return states(list(of_script.lines(place, of_script.script_facts(script), cores=2.0)))


def test_workers_that_start_the_script_again(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    spawned = "import multiprocessing\nmultiprocessing.set_start_method('spawn')\n"
    script.write_text(spawned + SCRIPT.format(workers=2))
    assert of(script)["start_method"] == "problem"
    script.write_text(spawned + SCRIPT.format(workers=0))
    assert of(script)["start_method"] == "ok"
    script.write_text(f"{spawned}{SCRIPT.format(workers=2)}if __name__ == '__main__':\n    print(loader)\n")
    assert of(script)["start_method"] == "ok"


def test_more_workers_than_cores(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(workers=16))
    assert of(script)["loader_workers"] == "note"
    script.write_text(SCRIPT.format(workers=4))
    assert "loader_workers" not in of(script)


def test_a_file_that_hides_a_library(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(workers=0))
    (tmp_path / "test.py").touch()
    (tmp_path / "model.py").touch()
    assert "shadowed" not in of(script)
    (tmp_path / "random.py").touch()
    assert of(script)["shadowed"] == "problem"


def test_a_script_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("this is no python\n")
    for path in ("notes.txt", "gone.py"):
        done = call(str(tmp_path / path))
        assert done.exit_code == 2
        assert done.stderr.count("\n") == 1, done.stderr
    assert call("--timeout", "0").exit_code == 2


def test_what_the_last_recording_shows_is_part_of_it(tmp_path: Path) -> None:
    """The detectors of speed and memory, on a training that waits for its data."""
    (tmp_path / "train.py").write_text(SLOW)
    assert of(tmp_path / "train.py")["recording"] == "not_checked"
    command = [sys.executable, "-m", "traindx"]
    subprocess.run([*command, "run", "--quiet", "train.py"], cwd=tmp_path, check=True, capture_output=True)
    done = subprocess.run(
        [*command, "doctor", "--json", "--timeout", "60", "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = {line["id"]: line for line in json.loads(done.stdout)["lines"]}
    assert "recording" not in lines
    assert lines["data_wait"]["advice"].startswith("traindx diagnose ")


def test_sizes_read_as_other_tools_write_them() -> None:
    assert [size(n) for n in (64 * 2**20, 1.5 * 2**30, 252 * 2**30, 2**11)] == [
        "64 MB",
        "1.5 GB",
        "252 GB",
        "2 kB",
    ]
