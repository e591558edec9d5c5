"""Whatever a script does in a trial, the user's files keep contents, names, rights, owners and times."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from traindx.experiment.arms import Arm, Outcome, Workshop
from traindx.experiment.sandbox import landlock
from traindx.observe.program import find_script

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="shared memory of Linux")
HERE = Path(__file__).parent
State = dict[str, tuple[Any, ...]]


def state(*folders: str) -> State:
    found: State = {}
    for top in folders:
        for folder, names, files in os.walk(top):
            for path in [folder, *(os.path.join(folder, name) for name in (*files, *names))]:
                facts = os.lstat(path)
                inside = "" if os.path.isdir(path) else Path(path).read_bytes()
                found[path] = (facts.st_mode, facts.st_uid, facts.st_mtime_ns, os.listxattr(path), inside)
    return found


def printed(recording: Path) -> dict[str, str]:
    lines = map(json.loads, (recording / "rank-0.jsonl").read_text(encoding="utf-8").splitlines())
    said = "".join(each.get("out", "") for each in lines).splitlines()
    return dict(line.split(": ", 1) for line in said if ": " in line)


@pytest.fixture(scope="module", params=["namespace,landlock", "landlock", "python"])
def lines(request: pytest.FixtureRequest) -> str:
    """Which lines of the kernel hold a trial; where none does, Python's own are left."""
    if request.param == "landlock" and landlock.version() < 2:
        pytest.skip("the kernel has no Landlock")
    return str(request.param)


@pytest.fixture(scope="module")
def memory(lines: str) -> Iterator[Path]:
    """A folder and a file of the user's in shared memory, left there by something else."""
    folder = Path(f"/dev/shm/traindx-test-{os.getpid()}-{lines.partition(',')[0]}")
    folder.mkdir()
    for name in ("kept.txt", "renamed.txt"):
        (folder / name).write_text("kept")
    beside = Path(f"{folder}.txt")
    beside.write_text("kept")
    yield folder
    for path in Path("/dev/shm").glob(f"{folder.name}*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


Escaped = tuple[str, Outcome, dict[str, str], State, State]


@pytest.fixture(scope="module")
def escaped(lines: str, tmp_path_factory: pytest.TempPathFactory, memory: Path) -> Escaped:
    base = tmp_path_factory.mktemp("machine")
    user, elsewhere = base / "user", base / "elsewhere"
    for folder in (user, elsewhere):
        folder.mkdir()
    (user / "large.bin").write_bytes(bytes(2 << 20))
    (user / "small.txt").write_text("small")
    (elsewhere / "tree").mkdir()
    for name in ("other.txt", "removed.txt", "renamed.txt", "truncated.txt", "tree/deep.txt"):
        (elsewhere / name).write_text("other, and longer")
    os.chmod(elsewhere / "truncated.txt", 0o640)
    shutil.copy(HERE / "scripts" / "escapes.py", user / "train.py")
    places = [str(base), str(memory), f"{memory}.txt"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(user)
        patch.setenv("TRAINDX_SANDBOX", lines)
        before = state(*places) | {places[2]: (Path(places[2]).read_text(),)}
        keep = tmp_path_factory.mktemp("kept")
        with Workshop(find_script("train.py", ()), jobs=1, keep=keep) as shop:
            args = (str(user), str(elsewhere), str(memory), *(["no-c"] if lines == "python" else []))
            outcome = shop.run_one(Arm("escapes", args=args), timeout=120)
        after = state(*places)
        if os.path.exists(places[2]):
            after |= {places[2]: (Path(places[2]).read_text(),)}
    return lines, outcome, printed(outcome.recording), before, after


def test_nothing_of_the_users_is_changed(escaped: Escaped) -> None:
    lines, _, said, before, after = escaped
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    if lines != "namespace,landlock":
        # docs/trials.md: rights, owners and times from C, and what lies in shared memory, need a namespace.
        changed = {path for path in changed if "/dev/shm" not in path and _contents(path, before, after)}
    assert not changed, [f"{name}: {what}" for name, what in said.items() if "own copy" not in what]


def _contents(path: str, before: State, after: State) -> bool:
    return (before.get(path) or ("", ""))[-1] != (after.get(path) or ("", ""))[-1]


def test_the_training_goes_on(escaped: Escaped) -> None:
    _, outcome, said, _, _ = escaped
    assert outcome.ended == "finished", outcome.message
    assert said["trained"] == "True"
    assert said["uses_shared_memory"] == "b'abc'"


def test_descriptors_are_resolved_and_refused(escaped: Escaped) -> None:
    _, outcome, said, _, _ = escaped
    kinds = ["fchmod", "chmod_of_descriptor", "fchown", "utime_of_descriptor"]
    for name in [f"{kind}_{where}" for kind in kinds for where in ("large", "other")]:
        assert "a trial of traindx writes only to its own copy" in said[name], name
    assert "writes only to its own copy" in said["setxattr_of_descriptor_large"]
    refused = outcome.outside["refused"]
    assert any(path.endswith("/elsewhere/other.txt") for path in refused)
    assert any(path.endswith("/user/large.bin") for path in refused)


def test_a_file_elsewhere_is_truncated_as_without_a_trial(escaped: Escaped) -> None:
    assert escaped[2]["truncates_without_creating"] == "('short', '0o640')"


def test_shared_memory_looks_changed_to_the_script(escaped: Escaped) -> None:
    said = escaped[2]
    assert "'escaped.txt'" in said["renames_memory"]
    assert said["removes_the_tree_in_memory"] == "False"
    assert said["removes_the_file_in_memory"] == "False"
    assert said["writes_new_files_in_memory"] == "'new'"


@pytest.mark.usefixtures("escaped")
def test_nothing_new_is_left_in_shared_memory(memory: Path) -> None:
    left = [path.name for path in Path("/dev/shm").glob(f"{memory.name}-*")]
    assert not left


def test_what_is_changed_in_shared_memory_all_the_same_is_listed(escaped: Escaped, memory: Path) -> None:
    lines, outcome, _, _, _ = escaped
    if lines == "landlock":
        assert f"{memory}/kept.txt" in outcome.outside["let through"]
    else:
        assert not any(str(memory) in each for each in outcome.outside.get("let through", ()))


def test_devices_and_the_kernels_settings_are_left_alone(escaped: Escaped) -> None:
    assert not os.path.exists("/dev/traindx-escaped")
    assert "escaped" not in Path("/proc/sys/kernel/domainname").read_text()
    assert "writes only to its own copy" in escaped[2]["makes_a_file_in_dev_by_posix"]
    assert "writes only to its own copy" in escaped[2]["sets_a_kernel_setting_by_posix"]


def test_nothing_can_be_mounted_over(escaped: Escaped) -> None:
    if escaped[0] != "python":
        assert escaped[2]["mounts"].startswith("(-1, ")


SENDS = """
import socket, sys, torch
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
socket.create_connection(("localhost", int(sys.argv[1]))).sendall(b"hello")
open(sys.argv[2] + "/written.txt", "w").write("x")
for step in range(12):
    optimizer.zero_grad()
    model(torch.ones(4, 2)).mean().backward()
    optimizer.step()
"""


def test_every_summary_says_what_happened_outside(tmp_path: Path) -> None:
    user, elsewhere = tmp_path / "user", tmp_path / "elsewhere"
    user.mkdir()
    elsewhere.mkdir()
    (user / "train.py").write_text(SENDS)
    server = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=_accept, args=(server,), daemon=True).start()
    port = str(server.getsockname()[1])
    words = ["preflight", "--steps", "10", "--json", "train.py", port, str(elsewhere)]
    done = subprocess.run(
        [sys.executable, "-m", "traindx", *words], cwd=user, capture_output=True, text=True, timeout=120
    )
    server.close()
    assert done.returncode in (0, 1), done.stderr
    assert f"redirected into it: {elsewhere}/written.txt" in done.stderr
    assert f"not prevented: network localhost:{port}" in done.stderr
    assert json.loads(done.stdout)["outside"] == {
        "redirected": [f"{elsewhere}/written.txt"],
        "let through": [f"network localhost:{port}"],
    }
    assert not list(elsewhere.iterdir())


def _accept(server: socket.socket) -> None:
    while True:
        try:
            server.accept()[0].close()
        except OSError:
            return
