"""`-m`: a module is found without importing anything in our process, and runs as plain Python runs it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.run_scripts.calling import both, call, plain, recorded
from traindx.observe.program import NoProgram, find_module

TRAIN = "import sys\nprint(__name__, __spec__.name, __package__, sys.argv, __file__)\n"
MARK = "import os, sys\nopen(os.path.join(os.environ['MARKS'], __name__), 'w').close()\n"
EXTENDING = "__path__.append(__path__[0] + '/../elsewhere')\n"
FINDER = """
import sys
from importlib.util import spec_from_file_location
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "edited":
            init = r"{place}/edited/__init__.py"
            return spec_from_file_location(name, init, submodule_search_locations=[r"{place}/edited"])
sys.meta_path.append(Finder)
"""
BREAKING = """
import sys
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "nowhere":
            raise SystemError("no")
sys.meta_path.append(Finder)
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Packages that leave a mark when they are imported, in all the ways packages are laid out."""
    work = tmp_path / "work"
    for folder in ("ns/pkg", "ns/deep/er", "whole/inner", "extending", "elsewhere", "no_main", "said_later"):
        (work / folder).mkdir(parents=True)
        (work / folder / "train.py").write_text(TRAIN)
    for folder in ("ns/pkg", "whole", "whole/inner", "extending", "no_main"):
        (work / folder / "__init__.py").write_text(MARK)
    (work / "whole/__main__.py").write_text(TRAIN)
    (work / "ns/deep/__main__.py").write_text(TRAIN)
    (work / "elsewhere/other.py").write_text(TRAIN)
    (work / "extending/__init__.py").write_text(MARK + EXTENDING)
    (work / "empty").mkdir()
    (work / "empty/__init__.py").touch()
    (work / "alone.py").write_text(MARK + TRAIN)
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as file:
        file.writestr("zipped/__init__.py", MARK)
        file.writestr("zipped/train.py", TRAIN)
        file.writestr("ns/", "")
        file.writestr("ns/zipped.py", TRAIN)  # a second part of the package without __init__.py
    (tmp_path / "marks").mkdir()
    return work


def environment(place: Path, **more: str) -> dict[str, str]:
    marks, packed = place.parent / "marks", place.parent / "packed.zip"
    return {"MARKS": str(marks), "PYTHONPATH": str(packed), **more}


FOUND = {
    "ns.pkg.train": "ns/pkg/train.py",
    "ns.deep.er.train": "ns/deep/er/train.py",
    "ns.deep": "ns/deep/__main__.py",
    "ns.zipped": "../packed.zip/ns/zipped.py",
    "whole": "whole/__main__.py",
    "whole.inner.train": "whole/inner/train.py",
    "zipped.train": "../packed.zip/zipped/train.py",
    "elsewhere.other": "elsewhere/other.py",
    "alone": "alone.py",
    "os.path": None,
    "extending.other": None,
    "no_main": None,
    "whole.nowhere": None,
    "sys": None,
}
REFUSED = ("nowhere", "ns.nowhere", "ns", "empty", "empty.nowhere", "alone.part", "ns.pkg.train.part")


def test_modules_are_found_without_an_import(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(str(place.parent / "packed.zip"))
    monkeypatch.syspath_prepend("")  # where the command's own folder stands
    monkeypatch.setenv("MARKS", str(place.parent / "marks"))
    before = set(sys.modules)
    for name, path in FOUND.items():
        found = find_module(name, ()).path
        wanted = path and str((place / path).resolve())
        assert (found and str(Path(found).resolve())) == wanted, name
    for name in REFUSED:
        with pytest.raises(NoProgram):
            find_module(name, ())
    assert set(sys.modules) == before
    assert not list((place.parent / "marks").iterdir())


@pytest.mark.parametrize("name", ["ns.pkg.train", "ns.zipped", "zipped.train", "extending.other"])
def test_a_command_that_only_looks_imports_nothing(place: Path, name: str) -> None:
    """The command is refused after it has found the program: nothing of the program may have run by then."""
    words = [sys.executable, "-m", "traindx", "treat", "--dry-run", "--time-budget", "soon", "-m", name]
    done = call(words, place, **environment(place))
    assert done.code == 2
    assert "no time like" in done.err
    assert not list((place.parent / "marks").iterdir())


RUNS = [*(name for name in FOUND if name not in ("os.path", "sys")), "os.path"]


def test_what_plain_python_runs_is_run(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(place).items():
        monkeypatch.setenv(name, value)
    with ThreadPoolExecutor(2) as pool:
        pairs = {name: pool.submit(both, place, "-m", name, "--help") for name in RUNS}
    for name, pair in pairs.items():
        seen, expected = pair.result()
        assert (seen.out, seen.code) == (expected.out, expected.code), name
    assert {path.name for path in (place.parent / "marks").iterdir()} >= {"ns.pkg", "whole", "extending"}


def test_an_editable_install_is_found_by_its_own_finder(place: Path) -> None:
    """Its finder stands on `sys.meta_path`: it is asked, and the package stays unimported."""
    hidden = place.parent / "hidden"
    (hidden / "edited").mkdir(parents=True)
    (hidden / "edited/__init__.py").write_text(MARK)
    (hidden / "edited/train.py").write_text(TRAIN)
    (hidden / "sitecustomize.py").write_text(FINDER.format(place=hidden))
    around = environment(place, PYTHONPATH=str(hidden))
    code = "from traindx.observe.program import find_module; print(find_module('edited.train', ()).path)"
    found = plain(place, "-c", code, **around)
    assert found.out == f"{hidden}/edited/train.py\n", found.err
    assert not list((place.parent / "marks").iterdir())
    assert recorded(place, "--quiet", "-m", "edited.train", **around).out.startswith("__main__ edited.train")


def test_a_finder_that_breaks_leaves_it_to_python(place: Path) -> None:
    hidden = place.parent / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(BREAKING)
    code = "from traindx.observe.program import find_module; print(find_module('nowhere', ()).path)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=place,
        env={"PYTHONPATH": str(hidden), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("None\n", 0), done.stderr
