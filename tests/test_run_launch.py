"""A program under `traindx run` is the program under plain Python."""

from __future__ import annotations

import ast
import os
import py_compile
import shutil
import sys
import zipfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.run_scripts.calling import SCRIPTS, Result, both, call, facts, plain, recorded
from traindx.observe.log_links import event_files

IDENTITY = SCRIPTS / "identity.py"


Pairs = dict[str, Future[tuple[Result, Result]]]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same program as a script, a link to it, a module, a package, a folder, a zip file, bytecode."""
    folder = tmp_path_factory.mktemp("work")
    for place in ("nest", "container", "package/inner", "elsewhere"):
        (folder / place).mkdir(parents=True)
    shutil.copy(IDENTITY, folder / "script.py")
    shutil.copy(IDENTITY, folder / "nest" / "real.py")
    (folder / "elsewhere" / "link.py").symlink_to(folder / "nest" / "real.py")
    shutil.copy(IDENTITY, folder / "container" / "__main__.py")
    (folder / "package" / "__init__.py").touch()
    shutil.copy(IDENTITY, folder / "package" / "module.py")
    shutil.copy(IDENTITY, folder / "package" / "inner" / "__main__.py")
    with zipfile.ZipFile(folder / "packed.zip", "w") as file:
        file.write(IDENTITY, "__main__.py")
    py_compile.compile(str(folder / "script.py"), cfile=str(folder / "compiled.pyc"))
    return folder


WAYS = [
    ["script.py", "--help", "-m", "--", "x y"],
    ["./nest/../script.py"],
    ["elsewhere/link.py", "--out", "mine"],
    ["-m", "script", "--quiet", "-h"],
    ["-m", "package.module", "a"],
    ["-m", "package.inner"],
    ["container", "a"],
    ["packed.zip"],
    ["compiled.pyc", "b"],
]


@pytest.fixture(scope="module")
def starts(programs: Path) -> Iterator[Pairs]:
    """All of them started at once: a process alone does not fill the processors."""
    with ThreadPoolExecutor(4) as pool:
        yield {str(words): pool.submit(both, programs, *words) for words in WAYS}


@pytest.mark.parametrize("words", WAYS, ids=lambda words: " ".join(words[:2]))
def test_program_cannot_tell_the_difference(starts: Pairs, words: list[str]) -> None:
    seen, expected = starts[str(words)].result()
    assert expected.code == 0, expected.err
    assert seen == expected


def test_flags_of_python_are_the_programs(programs: Path) -> None:
    flags = ["-W", "error", "-X", "dev", "-P"]
    expected = call([sys.executable, *flags, "script.py"], programs)
    assert (
        call([sys.executable, *flags, "-m", "traindx", "run", "--quiet", "script.py"], programs) == expected
    )


def test_command_traindx_does_the_same(programs: Path) -> None:
    command = Path(sys.executable).parent / "traindx"
    if not command.exists():
        pytest.skip("traindx is not installed as a command")
    expected = plain(programs, "script.py", "a")
    assert call([command, "run", "--quiet", "script.py", "a"], programs) == expected
    nested = call([command, "run", "--quiet", "-m", "traindx", "run", "--quiet", "script.py", "a"], programs)
    assert nested == expected


ENDINGS = [
    "return",
    "exit",
    "exit-3",
    "exit-text",
    "gone",
    "memory",
    "killed",
    "terminated",
    "caused",
    "group",
    "hook",
    "broken_hook",
    "interrupt",
    "closed",
    "order",
    "thread",
    "streams",
    "fork",
    "objects",
]


BY_NAME = ["caused", "interrupt"]


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pairs]:
    folder = tmp_path_factory.mktemp("ends")
    (folder / "broken" / "torch").mkdir(parents=True)
    (folder / "broken" / "torch" / "__init__.py").write_text("from torch.missing import nothing\n")
    for place in (folder, folder / "broken"):
        shutil.copy(SCRIPTS / "endings.py", place / "endings.py")
    with ThreadPoolExecutor(4) as pool:
        pairs = {way: pool.submit(both, folder, "endings.py", way) for way in ENDINGS}
        pairs |= {f"-m {way}": pool.submit(both, folder, "-m", "endings", way) for way in BY_NAME}
        pairs["torch"] = pool.submit(both, folder / "broken", "endings.py", "imports_torch")
        yield pairs


@pytest.mark.parametrize("way", [*ENDINGS, *(f"-m {way}" for way in BY_NAME), "torch"])
def test_ends_as_plain_python_ends_it(ends: Pairs, way: str) -> None:
    seen, expected = ends[way].result()
    assert seen == expected


def test_syntax_error_is_shown_as_ever_and_nothing_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text("x = 1\nif x\n    pass\n", encoding="utf-8")
    seen, expected = both(tmp_path, "wrong.py")
    assert seen == expected
    assert seen.code == 1
    assert not list((tmp_path / ".traindx").glob("*/*"))


def test_closed_standard_output_does_not_stop_a_program(tmp_path: Path) -> None:
    (tmp_path / "silent.py").write_text("import sys\nprint('x')\nprint(sys.stdout, file=sys.stderr)\n")
    command = f"{sys.executable} -m traindx run --quiet silent.py >&-"
    result = call(["sh", "-c", command], tmp_path)
    assert (result.err, result.code) == ("None\n", 0)


REFUSED = [
    (["nowhere.py"], "nowhere.py does not exist"),
    (["empty"], "empty is a folder without __main__.py"),
    (["binary"], "binary is a binary file"),
    (["shell"], "shell is a script for /bin/sh"),
    (["-m", "nowhere"], "no module named 'nowhere'"),
    (["-m", "fine.inner"], "no module named 'fine.inner'"),
    (["-m", "fine.py"], "fine.py is a file"),
    (["-m", "package"], "package is a package without a __main__"),
    (["-m", ".fine"], "-m takes the name of a module"),
    (["--budget", "60%", "fine.py"], "'60%' is no share"),
    (["--budget", "-1", "fine.py"], "'-1' is no share"),
    (["--budget", "much", "fine.py"], "'much' is no share"),
    (["--steps", "0", "fine.py"], "--steps"),
    (["--stop-on", "high", "fine.py"], "--stop-on"),
    (["--fail-on", "grave", "fine.py"], "--fail-on"),
    (["--out", "old", "fine.py"], "old holds a recording already"),
    (["--json", "there.json", "fine.py"], "there.json exists already"),
    (["--json", "no/where.json", "fine.py"], "there is no folder"),
    (["--html", "empty", "fine.py"], "empty is a folder"),
    (["--html", "a.txt", "--json", "a.txt", "fine.py"], "name the same file"),
    (["--json", "-", "fine.py"], "standard output is the program's"),
    (["--nonsense", "fine.py"], "No such option"),
    ([], "PROGRAM"),
]


def test_what_cannot_work_is_refused_before_anything_runs(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from traindx.cli import cli

    for folder in ("empty", "package", "old"):
        (tmp_path / folder).mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "old" / "rank-0.jsonl").touch()
    (tmp_path / "binary").write_bytes(b"\x7fELF\0\0")
    (tmp_path / "shell").write_text("#!/bin/sh\necho no\n")
    (tmp_path / "there.json").touch()
    (tmp_path / "fine.py").write_text("print('ran')\n")
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        for words, reason in REFUSED:
            result = CliRunner().invoke(cli, ["run", *words], obj=[])
            assert result.exit_code == 2, (words, result.output)
            assert reason in result.output, (words, result.output)
            assert not (tmp_path / ".traindx").exists(), words
    finally:
        os.chdir(before)


def test_one_line_says_what_is_missing(tmp_path: Path) -> None:
    result = recorded(tmp_path, "nowhere.py")
    assert result.code == 2
    assert result.out == ""
    assert result.err.count("\n") == 1


LIGHT = {"cli", "core", "observe"}


def test_program_meets_nothing_of_the_diagnosis(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "ours = {name.split('.')[1] for name in sys.modules if name.startswith('traindx.')}\n"
        "print(sorted(ours), 'numpy' in sys.modules, 'rich' in sys.modules)\n"
    )
    (tmp_path / "modules.py").write_text(script)
    result = recorded(tmp_path, "--quiet", "--json", "a.json", "modules.py")
    names, heavy = result.out.rsplit("]", 1)
    assert heavy == " False False\n"
    assert set(ast.literal_eval(names + "]")) <= LIGHT | {"report"}
    result = recorded(tmp_path, "--quiet", "modules.py")
    assert result.out == f"{sorted(LIGHT)} False False\n"


def test_budgets() -> None:
    import click

    from traindx.cli.run import command

    budget = next(one for one in command.params if one.name == "budget")
    with click.Context(command) as context:
        for text, share in (("1%", 0.01), ("0.5%", 0.005), ("0.01", 0.01), (".5 %", 0.005), ("0", 0.0)):
            assert budget.type_cast_value(context, text) is not None
            assert budget.process_value(context, text) == pytest.approx(share)


def test_arrival_of_modules(tmp_path: Path) -> None:
    """What waits for a module is told once, after it is complete; importing stays what it is."""
    (tmp_path / "late").mkdir()
    (tmp_path / "late" / "__init__.py").write_text("from late import inner\nDONE = True\n")
    (tmp_path / "late" / "inner.py").write_text("VALUE = 3\n")
    (tmp_path / "moody.py").write_text("import builtins\nif not hasattr(builtins, 'ready'): 1 / 0\n")
    result = plain(tmp_path, SCRIPTS / "arrivals.py", PYTHONPATH=str(tmp_path))
    assert (result.err, result.out) == ("", "all well\n")


def test_log_files_of_the_program_are_linked(tmp_path: Path) -> None:
    script = (
        "import os, pathlib, csv\n"
        "os.makedirs('logs/wandb/offline-run-20250102_030405-abc123/logs')\n"
        "names = ['metrics.csv', 'a.jsonl', 'train_log.txt', 'notes.txt', 'history.json', 'config.json',\n"
        "  'events.out.tfevents.1.host', 'model.pt', 'gone.csv',\n"
        "  'wandb/offline-run-20250102_030405-abc123/logs/debug.log']\n"
        "os.chdir('logs')\n"
        "for name in names:\n"
        "    with open(pathlib.Path(name), 'w') as file: file.write('x')\n"
        "with open('metrics.csv', 'a') as file: file.write('y')\n"
        "open('a.jsonl').close()\n"
        "os.unlink('gone.csv')\n"
        "with open('../input.csv') as file: file.read()\n"
    )
    (tmp_path / "write.py").write_text(script)
    (tmp_path / "input.csv").touch()
    assert recorded(tmp_path, "--quiet", "--out", "rec", "write.py").code == 0
    links = [str(Path(link).relative_to(tmp_path / "logs")) for link in facts(tmp_path / "rec")["links"]]
    assert links == [
        "metrics.csv",
        "a.jsonl",
        "train_log.txt",
        "history.json",
        "events.out.tfevents.1.host",
        "wandb/offline-run-20250102_030405-abc123",
    ]


def test_event_files_that_python_did_not_open_are_found_by_the_process(tmp_path: Path) -> None:
    for name in ("runs/a/events.out.tfevents.17.host.321.0.v2", "events.out.tfevents.17.my.host.321.1"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".cache").mkdir()
    for other in ("events.out.tfevents.17.host.99.0", ".cache/events.out.tfevents.17.host.321.0", "321.csv"):
        (tmp_path / other).touch()
    found = [Path(path).name for path in event_files([str(tmp_path)], 321)]
    assert found == ["events.out.tfevents.17.my.host.321.1", "events.out.tfevents.17.host.321.0.v2"]
