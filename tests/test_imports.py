"""What gets loaded when: importing traindx and asking for help must stay quick."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"numpy", "matplotlib", "plotly", "torch", "rich", "orjson", "yaml", "scipy", "pandas", "tensorboard"}


def loaded_after(code: str) -> set[str]:
    """Top-level modules in a fresh process after running code."""
    script = f"import sys\n{code}\nprint('\\n' + ' '.join(sorted(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in result.stdout.splitlines()[-1].split()}


def test_importing_traindx_loads_only_the_standard_library() -> None:
    new = loaded_after("import traindx; dir(traindx); traindx.__version__") - loaded_after("")
    assert new - set(sys.stdlib_module_names) == {"traindx"}


@pytest.mark.parametrize(
    "args",
    [["--help"], ["--version"], ["inspect", "--help"], ["demo", "--help"], ["doctor", "--help"], ["oops"]],
)
def test_help_loads_nothing_heavy(args: list[str]) -> None:
    code = f"from traindx.cli import cli\ntry: cli({args!r})\nexcept SystemExit: pass"
    assert not loaded_after(code) & HEAVY


def test_inspect_does_not_load_matplotlib(tmp_path: object) -> None:
    code = f"from traindx.cli import cli\ntry: cli(['inspect', {str(tmp_path)!r}])\nexcept SystemExit: pass"
    assert not loaded_after(code) & {"matplotlib", "plotly", "torch", "pandas", "tensorboard"}


@pytest.mark.parametrize(
    ("command", "unused"),
    [
        ("inspect", ("evidence", "knowledge", "comparison", "experiment")),
        ("diagnose", ("comparison", "observe")),
    ],
)
def test_a_command_loads_only_the_rooms_it_needs(
    command: str, unused: tuple[str, ...], tmp_path: Path
) -> None:
    log = tmp_path / "metrics.csv"
    log.write_text("step,loss\n" + "".join(f"{step},{1 / (step + 1)}\n" for step in range(40)))
    code = (
        f"from traindx.cli import cli\ntry: cli([{command!r}, {str(log)!r}])\nexcept SystemExit: pass\n"
        "import sys\nprint('\\n' + ' '.join(m for m in sys.modules if m.startswith('traindx.')))"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = {name.split(".")[1] for name in output.splitlines()[-1].split()}
    assert "logs" in loaded
    assert not loaded & set(unused)
