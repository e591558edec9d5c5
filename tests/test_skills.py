"""Skills: valid, short, and true: every command and option they name is run, or at least parsed, here."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from skills_ref import validate

from tests.request.table import items
from tests.test_every_command import COMMANDS, TRIED
from tests.warm import ran, record
from traindx import skills
from traindx.cli import cli
from traindx.cli._common import _ids
from traindx.experiment.casebook import add
from traindx.skills.assistants import ASSISTANTS

PAGES = {
    **{f"{name}/{path}": text for name in skills.names() for path, text in skills.files(name).items()},
    **{f"commands/{name}.md": text for name, text in skills.commands().items()},
}
# They run a training again and again: parsed here, and run by `make long`.
SLOW = {"ci", "preflight", "lr-find", "confirm", "treat", "try", "prove"}
NO_IDS = {"nan_to_num", "my_objective", "step_s", "num_workers", "zero_grad"}

TRAIN = """\
import argparse, csv, random, torch
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default={lr})
args = parser.parse_args()
def read(path):
    rows = [[float(cell) for cell in row[:3]] for row in list(csv.reader(open(path)))[1:]]
    data = torch.tensor(rows)
    return data[:, :2], data[:, 2].long()
x, y = read("train.csv")
vx, vy = read("val.csv")
model = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
optimizer = torch.optim.{optimizer}(model.parameters(), lr=args.lr)
for epoch in range(12):
    for i in range(0, len(x), 20):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x[i : i + 20]), y[i : i + 20])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        val = torch.nn.functional.cross_entropy(model(vx), vy)
    print(f"epoch {{epoch}} loss {{loss.item():.4f}} val_loss {{val.item():.4f}}")
torch.save(model.state_dict(), "model.pt")
"""
DIFF = """\
--- a/train.py
+++ b/train.py
@@ -1,5 +1,5 @@
 import argparse, csv, random, torch
 parser = argparse.ArgumentParser()
-parser.add_argument("--lr", type=float, default=0.5)
+parser.add_argument("--lr", type=float, default=0.05)
 args = parser.parse_args()
 def read(path):
"""


def quoted(text: str) -> Iterator[str]:
    """The command lines of a page: code spans and lines of code that begin with the program's name."""
    for span in re.findall(r"`([^`\n]+)`", text):
        if span.startswith("traindx "):
            yield span
    for line in text.splitlines():
        if re.match(r" {4,}traindx ", line):
            yield line.strip()


LINES = sorted({line for text in PAGES.values() for line in quoted(text)})


@pytest.mark.parametrize("name", skills.names())
def test_it_is_a_valid_skill(name: str) -> None:
    assert validate(skills.FOLDER / name) == []


@pytest.mark.parametrize("name", skills.names())
def test_it_is_short_and_leads_to_its_references(name: str) -> None:
    texts = skills.files(name)
    main = texts.pop("SKILL.md")
    assert len(main.splitlines()) < 130
    assert len(main) < 6000
    assert set(re.findall(r"\]\(([\w/-]+\.md)\)", main)) == set(texts)


def test_there_is_a_skill_for_each_work() -> None:
    wanted = {"debug-training", "read-training-logs", "before-a-long-run", "review-a-training-change"}
    assert set(skills.names()) == wanted
    assert set(skills.commands()) == {"diagnose-training", "train-debug"}
    assert len(LINES) > 50


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training with its data, logs, recordings, versions and commits, as the skills name them."""
    folder = tmp_path_factory.mktemp("project")
    rows = [(i * 37 % 101 / 50 - 1, i * 53 % 97 / 48 - 1, i % 3) for i in range(260)]
    text = ["a,b,label,site", *(f"{a},{b},{int(a + b > 0)},{site}" for a, b, site in rows)]
    (folder / "train.csv").write_text("\n".join(text[:201]) + "\n")
    (folder / "clean.csv").write_text("\n".join(text[:191]) + "\n")
    (folder / "val.csv").write_text("\n".join([text[0], *text[201:]]) + "\n")
    (folder / "train.py").write_text(TRAIN.format(lr=0.5, optimizer="SGD"))
    (folder / "fixed_train.py").write_text(TRAIN.format(lr=0.05, optimizer="SGD"))
    (folder / "other_optimizer.py").write_text(TRAIN.format(lr=0.05, optimizer="Adam"))
    (folder / "fix.diff").write_text(DIFF)
    _commits(folder)
    add([TRIED], folder)
    for name in ("before", "long"):
        record(folder, f".traindx/{name}", "train.py")
    log = ran(folder, "train.py")
    assert log.code == 0, log.err
    (folder / "train.log").write_text(log.out)
    for name in ("good", "bad"):
        (folder / "runs" / name).mkdir(parents=True)
        (folder / "runs" / name / "train.log").write_text(
            log.out.replace("loss 0.", f"loss {name == 'bad':d}.")
        )
    return folder


def _commits(folder: Path) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    (folder / ".gitignore").write_text(".traindx/\n")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "one"], ["tag", "v1"]):
        subprocess.run(["git", *who, *words], cwd=folder, check=True)
    subprocess.run(["git", "checkout", "-q", "-b", "change"], cwd=folder, check=True)
    (folder / "train.py").write_text(TRAIN.format(lr=0.05, optimizer="SGD"))
    subprocess.run(["git", *who, "commit", "-qam", "two"], cwd=folder, check=True)
    (folder / "train.py").write_text(TRAIN.format(lr=0.5, optimizer="SGD"))


def _traindx(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "traindx", *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


@pytest.mark.parametrize("line", LINES)
def test_what_is_quoted_can_be_parsed(line: str) -> None:
    _, *words = shlex.split(line)
    command: click.Command = cli
    context = click.Context(cli, info_name="traindx", **cli.context_settings)
    while isinstance(command, click.Group):
        found = command.get_command(context, words[0])
        assert found is not None, f"there is no command {words[0]}"
        command, words = found, words[1:]
    name = next(name for name, one in COMMANDS.items() if one is command)
    if words or command.get_params(context):
        command.make_context(name, words, parent=context)


@pytest.mark.parametrize("line", LINES)
def test_what_is_quoted_runs(project: Path, tmp_path: Path, line: str) -> None:
    words = shlex.split(line)[1:]
    if words[0] in SLOW and not os.environ.get("TRAINDX_LONG"):
        pytest.skip("runs trainings: make long")
    if words[-1] == "ID":
        words[-1] = "plateau"
    folder = tmp_path / "here"
    shutil.copytree(project, folder)
    if "--base" in words:
        shutil.copyfile(folder / "fixed_train.py", folder / "train.py")
    if words[0] == "run":
        shutil.rmtree(folder / ".traindx")
    done = _traindx(folder, *words)
    assert done.returncode in (0, 1), f"{line}\n{done.stdout[-500:]}\n{done.stderr[-500:]}"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("page", PAGES)
def test_options_and_ids_exist(page: str) -> None:
    options = {word for command in COMMANDS.values() for one in command.params for word in one.opts}
    spans = re.findall(r"`([^`\n]+)`", PAGES[page])
    for span in spans:
        for option in re.findall(r"(?<![\w'])--[a-z][\w-]*", span):
            assert option in options or "'" in span, f"{page}: {option}"
        if re.fullmatch(r"[a-z]+(_[a-z]+)+", span) and span not in NO_IDS:
            assert span in known(), f"{page}: {span}"


def test_the_functions_for_tests_exist() -> None:
    from traindx import testing

    text = PAGES["review-a-training-change/references/comment.md"]
    named = set(re.findall(r"\b(assert_\w+)\(", text))
    assert named == {"assert_trains", "assert_better"}
    assert all(callable(getattr(testing, name)) for name in named)


def known() -> set[str]:
    return set(_ids(("cause", "symptom", "remedy", "sheet", "detector", "change")))


def test_commands_in_the_table_of_exit_codes_exist() -> None:
    text = PAGES["debug-training/references/verdicts.md"].partition("## Exit codes")[2]
    named = {
        word.split()[0]
        for row in text.splitlines()
        if row.startswith("| `")
        for word in re.findall(r"`([a-z -]+)`", row.split("|")[1])
    }
    assert {"diagnose", "prove", "confirm", "doctor"} <= named <= {name.split()[0] for name in COMMANDS}


def test_what_the_guides_ask_for_is_reached() -> None:
    """Each command that answers an item of the checklist is one that a skill names."""
    named = {line.split()[1] for line in LINES}
    asked = {word for item in items() for word in re.findall(r"traindx ([a-z-]+)", item["command"])}
    assert asked & {name.split()[0] for name in COMMANDS} <= named | {"try", "list", "ask"}
    assert {"try", "list", "ask"} & named


def install(*words: str) -> Result:
    return CliRunner().invoke(cli, ["skill", "install", *words])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path


@pytest.mark.parametrize("name", ASSISTANTS)
def test_installed_skills_are_valid_where_the_assistant_reads_them(here: Path, name: str) -> None:
    for scope, base in (("--project", here), ("--user", here / "home")):
        assert install("--for", name, scope).exit_code == 0
        folder = base / ASSISTANTS[name].skills[scope == "--user"]
        for skill in skills.names():
            assert validate(folder / skill) == []
            assert (folder / skill / "SKILL.md").read_text() == skills.files(skill)["SKILL.md"]


def test_slash_commands_have_the_form_of_each_assistant(here: Path) -> None:
    assert install("--for", "all").exit_code == 0
    commands = sorted(str(path.relative_to(here)) for path in here.rglob("*train-debug*"))
    assert commands == [
        ".claude/commands/train-debug.md",
        ".cursor/commands/train-debug.md",
        ".gemini/commands/train-debug.toml",
        ".github/prompts/train-debug.prompt.md",
        ".opencode/commands/train-debug.md",
    ]
    toml = tomllib.loads((here / ".gemini/commands/train-debug.toml").read_text())
    assert "{{args}}" in toml["prompt"]
    assert "$ARGUMENTS" in (here / ".claude/commands/train-debug.md").read_text()
    assert "$ARGUMENTS" not in (here / ".cursor/commands/train-debug.md").read_text()


def test_by_default_those_whose_folder_is_there(here: Path) -> None:
    assert install("--dry-run").output.split()[3].startswith(".agents/")
    (here / ".claude").mkdir()
    (here / ".gemini").mkdir()
    assert install().exit_code == 0
    assert sorted(path.name for path in here.iterdir()) == [".claude", ".gemini", "home"]


def test_what_was_changed_is_kept(here: Path) -> None:
    assert install("--for", "claude").exit_code == 0
    changed = here / ".claude/skills/debug-training/SKILL.md"
    changed.write_text(changed.read_text() + "\nAsk Ada first.\n")
    done = install("--for", "claude")
    assert done.exit_code == 1
    assert "kept, changed     .claude/skills/debug-training/SKILL.md" in done.output
    assert changed.read_text().endswith("Ask Ada first.\n")
    assert install("--for", "claude", "--force").exit_code == 0
    assert changed.read_text() == skills.files("debug-training")["SKILL.md"]


def test_what_an_older_version_wrote_is_renewed(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skills.install, "files", lambda name: {"SKILL.md": f"an older {name}\n"})
    assert install("--for", "claude").exit_code == 0
    monkeypatch.undo()
    monkeypatch.chdir(here)
    done = install("--for", "claude")
    assert done.exit_code == 0, done.output
    assert (here / ".claude/skills/debug-training/SKILL.md").read_text() == skills.files("debug-training")[
        "SKILL.md"
    ]


def test_a_file_that_was_there_before_is_kept(here: Path) -> None:
    mine = here / ".claude/commands/train-debug.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine\n")
    (here / "elsewhere.md").write_text("theirs\n")
    (here / ".claude/commands/diagnose-training.md").symlink_to(here / "elsewhere.md")
    assert install("--for", "claude").exit_code == 1
    assert mine.read_text() == "mine\n"
    assert (here / "elsewhere.md").read_text() == "theirs\n"
    assert (here / ".claude/skills/debug-training/SKILL.md").exists()


def test_a_place_that_cannot_be_written(here: Path) -> None:
    (here / ".claude").write_text("a file\n")
    done = install("--for", "claude")
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1


def test_one_skill_only_and_names_that_are_none(here: Path) -> None:
    document = json.loads(install("read-training-logs", "--for", "codex", "--json").stdout)
    names = {Path(item["path"]).relative_to(here).parts[2] for item in document["items"]}
    assert names == {"read-training-logs"}
    done = install("no-such-skill")
    assert done.exit_code == 2
    assert "debug-training" in done.stderr


def test_show() -> None:
    runner = CliRunner()
    assert runner.invoke(cli, ["skill", "show", "debug-training"]).output.startswith(
        "---\nname: debug-training\n"
    )
    one = runner.invoke(cli, ["skill", "show", "debug-training/references/trees.md"])
    assert one.output.startswith("# Decision trees")
    assert "# Decision trees" in runner.invoke(cli, ["skill", "show", "-a", "debug-training"]).output
    assert runner.invoke(cli, ["skill", "show", "train-debug"]).exit_code == 0
    for name in ("nope", "debug-training/references/nope.md"):
        assert runner.invoke(cli, ["skill", "show", name]).exit_code == 2
