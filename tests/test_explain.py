"""`traindx explain` and `traindx list` as somebody uses them."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest
from click.testing import CliRunner, Result

from traindx.cli import cli
from traindx.cli.list import KINDS
from traindx.core.units import detectors
from traindx.knowledge.catalogue import causes, causes_of, known_ids, nearest, pages_of, symptoms


def call(*args: str) -> Result:
    return CliRunner().invoke(cli, list(args))


def process(*args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "traindx", *args]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


def on_a_terminal(*args: str, **environment: str) -> str:
    """What the command writes when its output is a terminal."""
    ours, theirs = pty.openpty()
    given = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "PYTHONIOENCODING": "utf-8", **environment}
    given = {name: value for name, value in given.items() if value}
    with subprocess.Popen([sys.executable, "-m", "traindx", *args], stdout=theirs, env=given) as running:
        os.close(theirs)
        written = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the way Linux says that the other end is closed
                break
            if not part:
                break
            written += part
        assert running.wait() == 0
    os.close(ours)
    return written.decode().replace("\r\n", "\n")


# ---------------------------------------------------------------- explain


def test_a_cause_in_a_pipe_is_plain_markdown() -> None:
    result = process("explain", "lr_too_high")
    assert result.returncode == 0, result.stderr
    cause = causes()["lr_too_high"]
    assert result.stdout.startswith(
        f"# {cause.title}\n\n`lr_too_high`, a cause (optimisation). {cause.meaning}"
    )
    assert "\x1b" not in result.stdout
    for heading in ("What it is", "Evidence", "Confirm", "Fix", "Remedies", "Do not", "Verify"):
        assert f"\n## {heading}\n" in result.stdout
    for remedy in cause.remedies:
        assert f"- `{remedy}`: " in result.stdout


def test_a_symptom_lists_its_causes_the_frequent_first() -> None:
    output = call("explain", "divergence").output
    part = output.split("\n## Causes\n")[1].split("\n## ")[0]
    listed = [line.split("`")[1] for line in part.splitlines() if line.startswith("| `")]
    assert listed == [cause.id for cause in causes_of("divergence")]
    assert causes()[listed[0]].symptoms["divergence"] == "often"
    assert output.index("## Causes") < output.index("## Do not")


def test_a_remedy_says_first_what_holds_for_any_run() -> None:
    output = call("explain", "lower_lr").output
    assert "`lower_lr`, a remedy. Risk: low. Changes lr." in output
    assert "\n## Do\n\nDivide the learning rate by ten.\n" in output
    assert output.index("by ten.") < output.index("- Lower lr from <lr> to <lr_lower>")
    assert "- `lr_too_high`: " in output.split("## Helps against")[1]


def test_a_detector_shows_its_thresholds_and_what_it_speaks_for() -> None:
    output = call("explain", "loss_spikes").output
    assert "`loss_spikes`, a detector (loss). Needs loss." in output
    assert "| loss_spikes.spike_ratio | 1.5 |" in output
    assert "--set loss_spikes.NAME=VALUE" in output
    assert "[tool.traindx.thresholds.loss_spikes]" in output
    weighed = {cause.id for cause in causes().values() if "loss_spikes" in cause.evidence}
    for cause in weighed:
        assert f"| `{cause}` |" in output


def test_a_sheet_is_shown() -> None:
    output = call("explain", "numerical_precision").output
    assert output.startswith("# Numerical precision\n")
    assert "65,504" in output


def test_a_check_of_preflight_is_shown() -> None:
    output = call("explain", "one-batch").output
    assert output.startswith(
        "# One batch can be overfitted\n\n`one_batch`, a check of `traindx preflight` (learning)."
    )
    assert "can be memorised" in output


def test_a_check_and_a_detector_of_one_name_are_both_shown() -> None:
    output = call("explain", "loss_at_chance").output
    assert output.index("`loss_at_chance`, a detector") < output.index("`loss_at_chance`, a check")


def test_an_id_that_several_kinds_share_shows_all_of_them() -> None:
    shared = sorted(set(symptoms()) & {unit.id for unit in detectors()})
    assert "oscillation" in shared
    output = call("explain", "oscillation").output
    assert output.index("`oscillation`, a symptom.") < output.index("`oscillation`, a detector")
    assert [page.kind for page in pages_of("oscillation")] == ["symptom", "detector"]
    assert [page.kind for page in pages_of("overfitting")] == ["symptom", "sheet"]


def test_several_ids_are_shown_one_after_the_other() -> None:
    output = call("explain", "lr_too_low", "raise_lr").output
    assert output.index("`lr_too_low`, a cause") < output.index("`raise_lr`, a remedy")


@pytest.mark.parametrize("spelling", ["LR_too_high", "lr-too-high", "lr too high", " lr_too_high "])
def test_spelling_is_forgiven(spelling: str) -> None:
    assert call("explain", spelling).output == call("explain", "lr_too_high").output


def test_a_threshold_leads_to_its_detector() -> None:
    assert call("explain", "loss_spikes.spike_ratio").output == call("explain", "loss_spikes").output


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("lr_to_high", "lr_too_high"),
        ("loss_spkes", "loss_spikes"),
        ("lower_rl", "lower_lr"),
        ("relu", "dying_relu"),
        ("labels_mater", "labels_matter"),
        ("clip_nrm", "clip_norm"),
    ],
)
def test_an_unknown_id_suggests_the_nearest(wrong: str, right: str) -> None:
    result = process("explain", wrong)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert f"nothing is called '{wrong}'" in result.stderr
    assert "Did you mean " in result.stderr
    assert right in result.stderr


@pytest.mark.parametrize("wrong", ["", "%%", "../lr_too_high", "\x1b[31mred", "q" * 5000, "__init__"])
def test_nonsense_is_an_error_of_one_short_line(wrong: str) -> None:
    result = call("explain", wrong)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "\x1b" not in result.stderr
    assert len(result.stderr) < 300


def test_explain_without_an_id_is_a_usage_error() -> None:
    result = call("explain")
    assert result.exit_code == 2
    assert "Missing argument 'ID...'" in result.stderr


def test_every_page_can_be_shown() -> None:
    for id in sorted(known_ids()):
        result = call("explain", id)
        assert result.exit_code == 0, id
        assert f"# {pages_of(id)[0].title}\n" in result.output


def test_on_a_terminal_the_page_is_drawn() -> None:
    shown = on_a_terminal("explain", "lr_too_high", NO_COLOR="")
    assert "\x1b[1;36mLearning rate too high\x1b[0m" in shown
    assert "\n## " not in shown
    assert "| --- |" not in shown


def test_on_a_terminal_without_colour_nothing_is_coloured() -> None:
    shown = on_a_terminal("explain", "lower_lr", NO_COLOR="1", FORCE_COLOR="")
    assert "\x1b" not in shown
    assert shown.startswith("Lower the learning rate\n")
    assert max(map(len, shown.splitlines())) <= 80


def test_a_terminal_of_few_letters_gets_few_letters() -> None:
    shown = on_a_terminal("explain", "optimisers", NO_COLOR="1", FORCE_COLOR="", PYTHONIOENCODING="ascii")
    assert "?" not in shown
    assert "\n * " in shown
    assert "----" in shown


def test_a_dumb_terminal_gets_plain_markdown() -> None:
    assert (
        on_a_terminal("explain", "lower_lr", TERM="dumb", FORCE_COLOR="")
        == call("explain", "lower_lr").output
    )


def test_explaining_a_cause_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom traindx.cli import cli\n"
        "try: cli(['explain', 'lr_too_high', 'lower_lr'])\nexcept SystemExit: pass\n"
        "sys.exit(' '.join({'numpy', 'rich', 'scipy', 'yaml', 'matplotlib'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.stderr.strip() == ""


def test_nearest_prefers_what_looks_alike() -> None:
    assert nearest("lr_too_hihg")[0] == "lr_too_high"
    assert nearest("zzzzzz") == ()
    assert nearest("") == ()
    assert "loss_spikes" in nearest("spikes")


# ---------------------------------------------------------------- list


@pytest.mark.parametrize("kind", KINDS)
def test_lists_have_one_line_each(kind: str) -> None:
    result = process("list", kind)
    assert result.returncode == 0, result.stderr
    assert "\x1b" not in result.stdout
    document = json.loads(process("list", kind, "--json").stdout)
    assert document["schema"] == "traindx/list/1"
    assert document["kind"] == kind
    lines = result.stdout.split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in lines] == [item["id"] for item in document["items"]]
    assert len({line.rindex("  ") for line in lines if kind == "thresholds"}) <= 1, "aligned"


def test_causes_are_listed_by_category() -> None:
    lines = call("list", "causes").output.splitlines()
    assert len(lines) == len(causes())
    assert lines[-1].split()[:2] == ["converged", "benign"]
    categories = [line.split()[1] for line in lines]
    assert categories == sorted(categories, key=categories.index)


def test_symptoms_are_listed_by_rank() -> None:
    assert [line.split()[0] for line in call("list", "symptoms").output.splitlines()] == list(symptoms())


def test_thresholds_say_how_they_are_changed() -> None:
    output = call("list", "thresholds").output
    assert "[tool.traindx.thresholds.DETECTOR]" in output
    assert "--set DETECTOR.NAME=VALUE" in output
    items = json.loads(call("list", "thresholds", "--json").output)["items"]
    assert {"id": "loss_spikes.spike_ratio", "default": 1.5} in items


def test_an_unknown_kind_names_the_known_ones() -> None:
    result = call("list", "cause")
    assert result.exit_code == 2
    assert "'causes'" in result.stderr


def test_a_narrow_terminal_wraps_the_last_column() -> None:
    shown = on_a_terminal("list", "causes", NO_COLOR="1", FORCE_COLOR="", COLUMNS="70")
    assert max(map(len, shown.splitlines())) <= 70
    assert len(shown.splitlines()) > len(causes())
