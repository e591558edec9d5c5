"""`traindx lint` as somebody uses it: what it says, its edits, its exit codes, its formats."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from traindx.cli import cli
from traindx.evidence.lint import lint

SCHEMA = json.loads(
    (Path(__file__).parent / "contract" / "diagnosis.schema.json").read_text(encoding="utf-8")
)
SCRIPTS = Path(__file__).parent / "scripts"
FORGOTTEN = """\
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
"""


def call(*args: object) -> Result:
    env = {"COLUMNS": "100", "TRAINDX_DEBUG": "1"}
    return CliRunner(env=env).invoke(cli, ["lint", *(str(a) for a in args)])


@pytest.fixture
def forgotten(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(FORGOTTEN, encoding="utf-8")
    return path


def test_place_name_reason_and_edit(forgotten: Path) -> None:
    result = call(forgotten)
    assert result.exit_code == 1
    assert f"{forgotten}:8: high script_zero_grad_missing" in result.output
    assert "`loss.backward()` adds to the gradients" in result.output
    assert "+    optimizer.zero_grad()" in result.output
    assert call(forgotten, "--exit-zero").exit_code == 0


def test_fix_makes_the_safe_edits_and_only_those(forgotten: Path) -> None:
    forgotten.chmod(0o640)
    result = call(forgotten, "--fix")
    assert result.exit_code == 0, result.output
    text = forgotten.read_text(encoding="utf-8")
    assert text == FORGOTTEN + "    optimizer.zero_grad()\n"
    assert forgotten.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in forgotten.parent.iterdir()] == ["train.py"]
    assert call(forgotten).exit_code == 0


def test_what_is_not_safe_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    source = FORGOTTEN.replace(
        "mse_loss(model(x), y)", "cross_entropy(nn.functional.softmax(model(x), 1), y)"
    ).replace("    loss.backward()", "    optimizer.zero_grad()\n    loss.backward()")
    path.write_text(source, encoding="utf-8")
    result = call(path, "--fix")
    assert result.exit_code == 1
    assert "script_double_activation" in result.output
    assert "An edit to read" in result.output
    assert path.read_text(encoding="utf-8") == source


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_fix_keeps_encoding_and_line_ends(tmp_path: Path, end: str) -> None:
    path = tmp_path / "train.py"
    text = "# -*- coding: latin-1 -*-\n# r\xe9seau\n" + FORGOTTEN.rstrip("\n")
    path.write_bytes(text.replace("\n", end).encode("latin-1"))
    assert call(path, "--fix").exit_code == 0
    after = path.read_bytes()
    assert after == (text + "\n    optimizer.zero_grad()").replace("\n", end).encode("latin-1")


@pytest.mark.parametrize(
    "comment", ["# traindx: ignore", "# traindx: ignore[script_zero_grad_missing, other]"]
)
def test_a_comment_silences_its_line(tmp_path: Path, comment: str) -> None:
    path = tmp_path / "train.py"
    path.write_text(FORGOTTEN.replace("loss.backward()", f"loss.backward()  {comment}"), encoding="utf-8")
    result = call(path)
    assert result.exit_code == 0
    assert "Nothing found" in result.output
    other = FORGOTTEN.replace("loss.backward()", "loss.backward()  # traindx: ignore[other]")
    path.write_text(other, encoding="utf-8")
    assert call(path).exit_code == 1


def test_json_is_a_diagnosis_of_the_source_alone(forgotten: Path) -> None:
    document = json.loads(call(forgotten, "--json").output)
    jsonschema.validate(document, SCHEMA)
    assert document["source"]["format"] == "script"
    assert document["source"]["evidence"] == ["script"]
    first = document["problems"][0]["hypotheses"][0]
    assert first["cause"] == "missing_zero_grad"
    assert first["location"] == {"file": str(forgotten), "line": 8}
    assert "+    optimizer.zero_grad()" in first["fix"]["patch"]


def test_a_script_that_is_right_is_not_called_healthy(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(FORGOTTEN + "    optimizer.zero_grad()\n", encoding="utf-8")
    document = json.loads(call(path, "--json").output)
    jsonschema.validate(document, SCHEMA)
    assert document["verdict"] == "insufficient_evidence"
    assert document["problems"] == []


def test_sarif_has_rules_results_places_and_fixes(forgotten: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.sarif"
    assert call(forgotten, "--sarif", out).exit_code == 1
    document = json.loads(out.read_text(encoding="utf-8"))
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    (result,) = run["results"]
    assert rules[result["ruleIndex"]] == result["ruleId"] == "script_zero_grad_missing"
    assert result["level"] == "error"
    physical = result["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"]["uri"] == forgotten.as_uri()
    assert physical["region"] == {"startLine": 8}
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"]["text"] == "    optimizer.zero_grad()\n"
    printed = call(forgotten, "--sarif", "-", "--exit-zero")
    assert json.loads(printed.output)["version"] == "2.1.0"


def test_sarif_never_replaces_the_script(forgotten: Path) -> None:
    assert call(forgotten, "--sarif", forgotten).exit_code == 2
    assert forgotten.read_text(encoding="utf-8") == FORGOTTEN


def test_a_folder_is_walked_and_what_cannot_be_read_is_named(forgotten: Path) -> None:
    (forgotten.parent / "broken.py").write_text("def (", encoding="utf-8")
    (forgotten.parent / "notes.txt").write_text("no Python", encoding="utf-8")
    result = call(forgotten.parent)
    assert result.exit_code == 1
    assert "1 finding in 1 script" in result.output
    assert "broken.py" in result.output


@pytest.mark.parametrize("content", [None, "def (", "x = '\0'", ""])
def test_bad_input_is_one_line(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "train.py"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    result = call(path)
    if content == "":
        assert result.exit_code == 0
        return
    assert result.exit_code == 2
    assert result.output.count("\n") == 1
    assert call(tmp_path / "nowhere").exit_code == 2


def test_modules_of_the_folder_are_read_with_the_script(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "import torch.nn as nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layers = [nn.Linear(4, 4) for _ in range(3)]\n        self.head = nn.Linear(4, 1)\n"
        "    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x).relu()\n"
        "        return self.head(x)\n",
        encoding="utf-8",
    )
    path = tmp_path / "train.py"
    path.write_text(
        FORGOTTEN.replace("nn.Linear(4, 1)", "Net()").replace(
            "import torch\n", "import torch\nfrom net import Net\n"
        )
        + "    optimizer.zero_grad()\n",
        encoding="utf-8",
    )
    (finding,) = lint(path).findings
    assert finding.id == "script_layers_in_list"
    assert finding.places[0].file == str(tmp_path / "net.py")
    assert finding.places[0].line == 5
    assert call(path, "--fix").exit_code == 0
    assert "nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])" in (tmp_path / "net.py").read_text()


def test_diagnose_names_lines_of_the_script(forgotten: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    rows = "".join(f"{i},{2.0 * 1.05**i}\n" for i in range(120))
    log.write_text("step,loss\n" + rows, encoding="utf-8")
    runner = CliRunner(env={"TRAINDX_DEBUG": "1"})
    result = runner.invoke(cli, ["diagnose", str(log), "--script", str(forgotten), "--json"])
    document = json.loads(result.output)
    assert "script" in document["source"]["evidence"]
    (first, *_) = document["problems"][0]["hypotheses"]
    assert first["cause"] == "missing_zero_grad"
    assert first["location"]["line"] == 8
    missing = runner.invoke(cli, ["diagnose", str(log), "--script", str(tmp_path / "none.py")])
    assert missing.exit_code == 2


def _right() -> list[Path]:
    found = [path for path in SCRIPTS.rglob("*.py") if not path.name.startswith("broken")]
    clinic = SCRIPTS.parents[1] / "clinic"
    return sorted([*found, *clinic.glob("lookalikes/*.py"), *clinic.glob("pairs/*/healthy.py")])


@pytest.mark.parametrize("path", _right(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_right_scripts_raise_nothing(path: Path) -> None:
    linted = lint(path)
    assert linted.script.trace.complete
    assert not linted.calls_for_action, [finding.text for finding in linted.findings]


def test_broken_scripts_are_found_and_fixed(tmp_path: Path) -> None:
    shutil.copy(SCRIPTS / "broken_zero_grad.py", tmp_path)
    shutil.copy(SCRIPTS / "broken_eval_mode.py", tmp_path)
    findings = {path.stem: [f.id for f in lint(path).findings] for path in tmp_path.glob("*.py")}
    assert findings["broken_zero_grad"] == ["script_zero_grad_missing"]
    assert findings["broken_eval_mode"] == ["script_mode_not_restored"]
