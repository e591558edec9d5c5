"""`traindx mcp` with a real client, over both transports."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp")
from clinic.corpus import unpack
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, ListRootsResult, Root

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "src" / "traindx" / "cli" / "_demo" / "diverged.log"
READING = "find_runs brief show diagnose compare lint check ask explain".split()
RUNNING = "run preflight lr_find confirm prove treat job".split()
# A training by hand that needs no framework and takes no time to import.
SLEEPER = """\
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open("pids.tmp", "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
os.rename("pids.tmp", "pids")
time.sleep(600)
"""
TRAINING = """\
import torch
from torch import nn

torch.manual_seed(0)
inputs = torch.randn(256, 8)
targets = inputs @ torch.randn(8, 1)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(60):
    loss = nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "diverged.log").write_bytes(DEMO.read_bytes())
    rows = "\n".join(f"{step},{2.0 * 0.93**step + 0.1}" for step in range(60))
    (folder / "good.csv").write_text(f"step,loss\n{rows}\n")
    (folder / "nan.csv").write_text("step,loss\n0,1\n1,0.9\n2,nan\n3,inf\n4,0.8\n5,0.7\n6,0.6\n7,0.5\n")
    (folder / "train.py").write_text(TRAINING)
    (folder / "sleeper.py").write_text(SLEEPER)
    return folder


@asynccontextmanager
async def on_stdio(folder: Path, *options: str, **more: Any) -> AsyncIterator[Client]:
    words = ["-m", "traindx", "mcp", *options]
    parameters = StdioServerParameters(
        command=sys.executable, args=["-P", *words], cwd=folder, env=dict(os.environ)
    )
    async with Client(parameters, **more) as client:
        yield client


@contextmanager
def http_server(folder: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    words = [sys.executable, "-P", "-m", "traindx", "mcp", "--http", "0", *options]
    with subprocess.Popen(words, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            found = re.search(r"http://127\.0\.0\.1:\d+/mcp", process.stderr.readline())
            assert found is not None
            yield found[0], process
        finally:
            process.terminate()
            process.wait(20)


async def call(client: Client, tool: str, **arguments: Any) -> CallToolResult:
    """A call whose answer is as its schema says, in JSON that has no bare NaN."""
    result = await client.call_tool(tool, arguments)
    json.loads(json.dumps(result.structured_content), parse_constant=pytest.fail)
    return result


def text_of(result: CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if part.type == "text")


def data_of(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, text_of(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def error_of(result: CallToolResult) -> str:
    assert result.is_error, text_of(result)
    assert len(text_of(result).splitlines()) == 1
    return text_of(result)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def gone(pids: list[int], seconds: float = 15.0) -> bool:
    with anyio.move_on_after(seconds):
        while any(map(alive, pids)):
            await anyio.sleep(0.05)
    return not any(map(alive, pids))


async def started(folder: Path) -> list[int]:
    """The processes of the sleeping script, once it runs."""
    with anyio.fail_after(60):
        while not (folder / "pids").exists():
            await anyio.sleep(0.05)
    return [int(pid) for pid in (folder / "pids").read_text().split()]


# ---------------------------------------------------------------- each tool


def test_every_reading_tool(project: Path) -> None:
    async def talk() -> None:
        async with on_stdio(project) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert sorted(tools) == sorted([*READING, *RUNNING])
            assert all(tool.output_schema and tool.description for tool in tools.values())
            found = data_of(await call(client, "find_runs"))
            assert {Path(run["path"]).name for run in found["runs"]} >= {
                "diverged.log",
                "good.csv",
                "nan.csv",
            }
            some = data_of(await call(client, "find_runs", contains=".csv", most=1))
            assert (some["total"], len(some["runs"]), some["left_out"]) == (3, 1, 1)
            page = data_of(await call(client, "brief", path="diverged.log"))["answer"]
            assert "lr_too_high 95 %" in page
            handle = next(line.split()[0] for line in page.splitlines() if " curve loss: " in line)
            shown = await call(client, "show", path="diverged.log", handle=handle, picture=True)
            assert [part.type for part in shown.content] == ["text", "image"]
            assert "1,080" in text_of(shown)
            answer = data_of(await call(client, "diagnose", path="diverged.log"))
            assert (answer["status"], answer["meaning"]) == ("done", "a problem was found")
            assert "▁" not in answer["answer"]
            runs = data_of(await call(client, "compare", paths=["diverged.log", "good.csv"]))
            assert "good.csv" in runs["answer"]
            assert data_of(await call(client, "lint", paths=["train.py"]))["status"] == "done"
            checked = data_of(await call(client, "check", paths=["good.csv"], details=True))
            assert checked["document"]["schema"] == "traindx/diagnosis/1"
            question = data_of(await call(client, "ask", symptoms="the loss is NaN"))
            assert question["causes"][0]["cause"] == "lr_too_high"
            answered = {question["question"]: next(iter(question["options"]))}
            following = data_of(await call(client, "ask", symptoms="the loss is NaN", answers=answered))
            assert following["question"] != question["question"]
            assert "# Learning rate too high" in text_of(await call(client, "explain", id="lr_too_high"))

    anyio.run(talk)


def test_nan_is_valid_json(project: Path) -> None:
    async def talk() -> None:
        async with on_stdio(project) as client:
            page = data_of(await call(client, "brief", path="nan.csv"))["answer"]
            handle = next(line.split()[0] for line in page.splitlines() if " curve loss: " in line)
            shown = data_of(await call(client, "show", path="nan.csv", handle=handle, details=True))
            assert shown["document"]["series"][0]["values"][2:4] == ["NaN", "Infinity"]

    anyio.run(talk)


def test_pages_and_prompts(project: Path) -> None:
    async def talk() -> None:
        async with on_stdio(project) as client:
            uris = {str(one.uri) for one in (await client.list_resources()).resources}
            assert "traindx://causes" in uris
            listed = await client.read_resource("traindx://causes")
            assert "- `lr_too_high`: Learning rate too high" in listed.contents[0].text  # type: ignore[union-attr]
            page = await client.read_resource("traindx://page/lr_too_high")
            assert page.contents[0].text.startswith("# Learning rate too high")  # type: ignore[union-attr]
            with pytest.raises(Exception, match="nothing is called"):
                await client.read_resource("traindx://page/nonsense")
            prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
            assert prompts == {"debug_training", "review_change", "before_long_run"}
            prompt = await client.get_prompt("debug_training", {"complaint": "the loss is NaN"})
            assert "the loss is NaN" in prompt.messages[0].content.text  # type: ignore[union-attr]

    anyio.run(talk)


def test_every_running_tool(project: Path) -> None:
    """Each once, as far as it goes within seconds: a job is returned, polled, cancelled."""
    pytest.importorskip("torch")

    async def talk() -> None:
        async with on_stdio(project) as client:
            heard: list[float] = []

            async def progress(done: float, total: float | None, message: str | None) -> None:
                del total, message
                heard.append(done)

            arguments = {"script": "train.py", "steps": 20, "wait": 120}
            ran = await client.call_tool("run", arguments, progress_callback=progress)
            assert heard
            answer = data_of(ran)
            assert answer["answer"].startswith("program: exit code 0\nF1 run: recording of train.py; step 20")
            recording = os.path.relpath(answer["files"][0], project)
            assert recording == ".traindx/train-1"
            plan = data_of(await call(client, "treat", script="train.py", action="plan", wait=120))
            assert plan["meaning"] in ("the plan; nothing was tried", "")
            for tool, given in (
                ("preflight", {"script": "train.py"}),
                ("lr_find", {"script": "train.py"}),
                ("confirm", {"what": recording}),
                ("prove", {"script": "train.py", "settings": ["lr=0.1"]}),
            ):
                begun = data_of(await call(client, tool, **given, wait=0.3))
                assert begun["status"] == "running"
                polled = data_of(await call(client, "job", id=begun["job"], wait=0))
                assert polled["job"] == begun["job"]
                ended = data_of(await call(client, "job", id=begun["job"], cancel=True, wait=20))
                assert ended["status"] == "cancelled"

    anyio.run(talk)


def test_prove_answers(project: Path) -> None:
    pytest.importorskip("torch")

    async def talk() -> None:
        async with on_stdio(project) as client:
            begun = await call(
                client, "prove", script="train.py", settings=["lr=0.1"], effort="quick", wait=200
            )
            answer = data_of(begun)
            assert answer["meaning"] in ("better", "not better")
            assert "training loss" in answer["answer"]

    anyio.run(talk)


# ---------------------------------------------------------------- what is refused


def test_bad_arguments_are_one_line(project: Path) -> None:
    async def talk() -> None:
        async with on_stdio(project) as client:
            assert "path: field required" in error_of(await call(client, "brief"))
            assert "no argument 'pth'" in error_of(await call(client, "brief", pth="x"))
            assert "tokens" in error_of(await call(client, "brief", path="good.csv", tokens=1))
            assert "does not exist" in error_of(await call(client, "brief", path="nowhere.csv"))
            assert "F99 is no fact" in error_of(await call(client, "show", path="good.csv", handle="F99"))
            assert "no handle" in error_of(await call(client, "show", path="good.csv", handle="--png=x"))
            assert "Give a training log" in error_of(await call(client, "brief", path="train.py"))
            assert "no Python file" in error_of(await call(client, "run", script="good.csv"))
            assert "give a change" in error_of(await call(client, "prove", script="train.py"))
            assert "--allow-apply" in error_of(await call(client, "treat", script="train.py", action="apply"))
            suspicion = {"what": "train.py", "suspects": ["nonsense"]}
            assert "no cause is called 'nonsense'" in error_of(await call(client, "confirm", **suspicion))
            assert "there is no job" in error_of(await call(client, "job", id="prove-1"))
            assert "Did you mean" in error_of(await call(client, "explain", id="lr_to_high"))

    anyio.run(talk)


def test_paths_outside_the_root_are_refused(project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.csv"
    outside.write_bytes((project / "good.csv").read_bytes())
    (project / "link.csv").symlink_to(outside)
    (project / "loop").symlink_to(project / "loop")
    recording = project / ".traindx" / "foreign"
    recording.mkdir(parents=True)
    (recording / "run.json").write_text(
        json.dumps({"folder": str(tmp_path), "script": {"path": str(outside)}})
    )

    async def talk() -> None:
        async with on_stdio(project) as client:
            for path in ("../outside.csv", str(outside), "link.csv", "/etc/passwd", "~/x", ""):
                answer = error_of(await call(client, "brief", path=path))
                assert "outside of the allowed folder" in answer or "is empty" in answer
            assert "circle" in error_of(await call(client, "brief", path="loop"))
            assert "outside" in error_of(await call(client, "run", script="../train.py"))
            assert "outside" in error_of(await call(client, "confirm", what=".traindx/foreign"))
            assert "outside" in error_of(await call(client, "run", script="train.py", folder=".."))
            given = {"script": "train.py", "files": [f"good.csv={outside}"]}
            assert "outside" in error_of(await call(client, "prove", **given))

    anyio.run(talk)


def test_a_library_in_the_folder_is_not_imported(project: Path) -> None:
    (project / "click.py").write_text("open('imported', 'w').close()\n")
    (project / "json.py").write_text("open('imported', 'w').close()\n")

    async def talk() -> None:
        async with on_stdio(project) as client:
            assert data_of(await call(client, "brief", path="good.csv"))["status"] == "done"

    anyio.run(talk)
    assert not (project / "imported").exists()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_client_s_roots_are_the_limit(project: Path, tmp_path: Path, mode: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "log.csv").write_bytes((project / "good.csv").read_bytes())

    async def roots(context: Any) -> ListRootsResult:
        del context
        return ListRootsResult(roots=[Root(uri=other.as_uri())])  # type: ignore[arg-type]

    async def talk() -> None:
        async with on_stdio(project, list_roots_callback=roots, mode=mode) as client:
            assert data_of(await call(client, "brief", path="log.csv"))["status"] == "done"
            assert "outside" in error_of(await call(client, "brief", path=str(project / "good.csv")))
        async with on_stdio(project, "--root", ".", list_roots_callback=roots, mode=mode) as client:
            assert "limited to" in error_of(await call(client, "brief", path="log.csv"))

    anyio.run(talk)


# ---------------------------------------------------------------- jobs end


def test_a_cancelled_request_ends_its_processes(project: Path) -> None:
    async def talk() -> None:
        async with on_stdio(project) as client:
            pids: list[int] = []
            async with anyio.create_task_group() as group:
                group.start_soon(lambda: call(client, "run", script="sleeper.py", wait=300))
                pids = await started(project)
                group.cancel_scope.cancel()
            assert await gone(pids)
            assert data_of(await call(client, "brief", path="good.csv"))["status"] == "done"

    anyio.run(talk)


def test_a_run_ends_at_its_time(project: Path) -> None:
    async def talk() -> None:
        async with on_stdio(project) as client:
            result = await call(client, "run", script="sleeper.py", minutes=0.05, wait=100)
            assert await gone(await started(project))
            assert result.is_error or "exit code" in text_of(result)

    anyio.run(talk)


def test_what_runs_ends_with_the_server(project: Path) -> None:
    async def talk() -> list[int]:
        async with on_stdio(project) as client:
            assert data_of(await call(client, "run", script="sleeper.py", wait=0))["status"] == "running"
            return await started(project)

    assert anyio.run(gone, anyio.run(talk))


def test_what_runs_ends_with_a_server_that_is_killed(project: Path) -> None:
    async def talk(url: str) -> list[int]:
        async with Client(url) as client:
            await call(client, "run", script="sleeper.py", wait=0)
            return await started(project)

    with http_server(project) as (url, process):
        training, child = anyio.run(talk, url)
        process.kill()
        assert anyio.run(gone, [training])
        os.kill(child, signal.SIGKILL)


# ---------------------------------------------------------------- HTTP, many runs, several clients


def test_two_clients_over_http(project: Path) -> None:
    async def talk(url: str) -> list[int]:
        async with Client(url) as one, Client(url) as other:
            answers: dict[str, str] = {}

            async def ask(client: Client, path: str) -> None:
                answers[path] = data_of(await call(client, "brief", path=path))["answer"]

            async with anyio.create_task_group() as group:
                group.start_soon(ask, one, "diverged.log")
                group.start_soon(ask, other, "good.csv")
            assert "nonfinite" in answers["diverged.log"]
            assert "nonfinite" not in answers["good.csv"]
            assert "outside" in error_of(await call(other, "brief", path="../outside.csv"))
            job = data_of(await call(one, "run", script="sleeper.py", wait=0))["job"]
            pids = await started(project)
            assert data_of(await call(other, "job", id=job, wait=0))["status"] == "running"
            return pids

    with http_server(project) as (url, process):
        pids = anyio.run(talk, url)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) in (0, 130)
        assert anyio.run(gone, pids)


def test_over_http_a_client_cannot_widen_the_root(project: Path, tmp_path: Path) -> None:
    async def everything(context: Any) -> ListRootsResult:
        del context
        return ListRootsResult(roots=[Root(uri=Path("/").as_uri())])  # type: ignore[arg-type]

    async def talk(url: str) -> None:
        async with Client(url, list_roots_callback=everything) as client:
            assert "outside" in error_of(await call(client, "brief", path=str(tmp_path / "x.csv")))
            assert data_of(await call(client, "lint", paths=["train.py"]))["status"] == "done"

    with http_server(project) as (url, _):
        anyio.run(talk, url)


def test_other_hosts_and_pages_are_refused(project: Path) -> None:
    """A page in a browser must not reach the server by a name of its own."""
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    with http_server(project) as (url, _):
        for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
            json_headers = {"Content-Type": "application/json", "Accept": "application/json", **headers}
            with pytest.raises(HTTPError) as error:
                urlopen(Request(url, data=b"{}", headers=json_headers))
            error.value.close()
            assert 400 <= error.value.code < 500


def test_a_folder_of_a_thousand_logs(tmp_path: Path) -> None:
    for number in range(1000):
        rows = "\n".join(f"{step},{2.0 * 0.9**step + number / 1000}" for step in range(12))
        (tmp_path / f"run-{number:04}.csv").write_text(f"step,loss\n{rows}\n")

    async def talk() -> None:
        async with on_stdio(tmp_path) as client:
            found = data_of(await call(client, "find_runs", wait=300))
            assert (found["total"], len(found["runs"]), found["left_out"]) == (1000, 30, 970)
            page = data_of(await call(client, "brief", path=".", wait=300))["answer"]
            assert page.startswith("F1 runs: 1,000 runs: ")
            assert len(page) < 1200 * 3.5
            assert "left out for lack of tokens" in page

    anyio.run(talk)


# ---------------------------------------------------------------- the command itself


def test_without_the_package_the_extra_is_named(project: Path) -> None:
    code = (
        "import importlib.util as util, sys; real = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'mcp' else real(name, *rest)\n"
        "from traindx.cli import main; sys.argv = ['traindx', 'mcp']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "pip install 'traindx[mcp]'" in done.stderr


def test_recordings_of_the_clinic_are_briefed(tmp_path: Path) -> None:
    unpack(tmp_path / ".traindx", {"second/birdsong"})

    async def talk() -> None:
        async with on_stdio(tmp_path) as client:
            runs = data_of(await call(client, "find_runs"))["runs"]
            assert [Path(run["path"]).name for run in runs] == ["birdsong"]
            began = time.monotonic()
            page = data_of(await call(client, "brief", path=runs[0]["path"]))["answer"]
            assert "over_regularised" in page
            assert time.monotonic() - began < 60

    anyio.run(talk)


def test_the_example_of_the_page_runs(project: Path) -> None:
    page = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    code, printed = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL)[0]
    words = [sys.executable, "-P", "-c", code]
    done = subprocess.run(words, cwd=project, capture_output=True, text=True, check=True)
    assert done.stdout == printed
    tools = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`[^|]*) \|", page, re.MULTILINE)))
    assert set(tools) == {*READING, *RUNNING}
