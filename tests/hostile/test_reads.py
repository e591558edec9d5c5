"""Named files are read by `traindx.core.files` alone: what else opens one is listed here, with its reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "traindx"
READS = {"read_text", "read_bytes", "open_code", "getline", "getlines", "getsource", "getsourcelines"}
READS |= {"copyfile", "copy", "copy2", "copytree", "memmap", "fromfile", "ZipFile", "file_digest"}
MODULES = {"shutil", "linecache", "inspect", "np", "numpy", "io", "zipfile", "hashlib"}
WRITES = ("O_WRONLY", "O_RDWR", "O_PATH")

ALLOWED = {
    "core/files.py opened": "the one place",
    # A pipe that the user names as a log, waited for as `cat` waits; what was just unpacked.
    "logs/log_file.py pipe_file": "a pipe on purpose",
    "logs/sqlites.py opened": "SQLite opens by itself; the file was looked at by `File`",
    # Files of the package itself.
    "cli/demo.py _place": "ours",
    "cli/_demo/broken_training.py load": "Python's own",
    "cli/ci.py _print_workflow": "ours",
    "interview/clauses.py _vocabulary": "ours",
    "knowledge/suspicions.py _phrases": "ours",
    "skills/__init__.py files": "ours",
    "skills/__init__.py commands": "ours",
    "skills/install.py _manifest": "written by the installation",
    "skills/install.py _digest_of": "written by the installation",
    "serve/mcp/jobs.py _read": "written by the job",
    "serve/mcp/reading.py ": "written by the tool",
    "doctor/disk.py _small_files": "written just before",
    "doctor/frameworks.py _keras": "the settings of Keras",
    "doctor/line.py read": "files of the system",
    "doctor/probe.py _openmp": "files of the system",
    "interview/plans.py plans": "ours",
    "knowledge/catalogue.py _detector_names": "ours",
    "knowledge/experiments.py _document": "ours",
    "knowledge/pages.py read_page": "ours",
    "knowledge/questions.py questions": "ours",
    "report/page/frame.py _file": "ours",
    "experiment/preflight/check.py _table": "ours",
    # What this very process, or one it has started, has just written.
    "cli/_reports.py _draw": "just drawn",
    "experiment/on_ray.py _unpacked": "in memory",
    "experiment/treat/proof.py _keep_weights": "just trained",
    # The user's program, run as Python runs it; `find_script` has looked at it.
    "observe/program.py _compiled": "to run it",
    # Copies of regular files, asked of the folder's entries, into the scratch of a trial.
    "experiment/scratch.py _keep": "regular, asked before",
    "experiment/scratch.py copy": "regular, asked before",
    "experiment/scratch.py _make": "a copy of ours",
    "experiment/scratch.py _git": "regular, asked before",
    # Of a file that `traindx.core.files` has opened.
    "checkup/data/files.py _npz": "opened before",
    "checkup/data/images.py _image": "opened before",
    "checkup/data/images.py image_arrays": "opened before",
    "checkup/model/loading.py _program_kind": "opened before",
    "checkup/weights/keras_file.py _unpacked": "opened before",
    "checkup/weights/torch_file.py _check_zip": "opened before",
    # To write: a lock that the processes of a launcher share, and a recording.
    "observe/folder.py _agreement": "refuses what is not regular",
    "observe/journal.py _open": "to append",
    "observe/journal.py _end_in_place": "to write",
    "observe/signature.py _key": "follows no links, and asks whose it is",
    # The kernel's own.
    "cli/_monitor.py alive": "/proc",
    "observe/process_memory.py resident_bytes": "/proc",
    "observe/exit_status.py _of_zombie": "/proc",
}
# Inside of a trial's arm or of the training, where the program itself reads what it likes.
APART = ("experiment/runtime/", "experiment/changes/", "experiment/sandbox/", "observe/torch/")


def reads(tree: ast.AST, inside: str = "") -> Iterator[tuple[str, ast.Call]]:
    """Calls that open a named file for reading, and the function they stand in."""
    for node in ast.iter_child_nodes(tree):
        name = node.name if isinstance(node, ast.FunctionDef) else inside
        if isinstance(node, ast.Call) and _reads(node):
            yield inside, node
        yield from reads(node, name)


def _reads(call: ast.Call) -> bool:
    func = call.func
    if isinstance(func, ast.Name):
        return func.id == "open" and _mode_reads(call, 1)
    if not isinstance(func, ast.Attribute):
        return False
    receiver = ast.unparse(func.value)
    if func.attr == "open":
        if receiver == "os":
            return not any(flag in ast.unparse(call) for flag in WRITES)
        plain = receiver in ("self", "file") and not call.args  # `logs.log_file.File`
        return not plain and _mode_reads(call, 1 if receiver in ("io", "tokenize", "tarfile", "gzip") else 0)
    if func.attr == "connect":
        return receiver == "sqlite3"
    if func.attr in ("copy", "load"):
        return receiver == "shutil"
    return func.attr in READS and (func.attr.startswith("read_") or receiver in MODULES)


def _mode_reads(call: ast.Call, at: int) -> bool:
    given = [word.value for word in call.keywords if word.arg == "mode"] + call.args[at : at + 1]
    words = [one.value for mode in given for one in ast.walk(mode) if isinstance(one, ast.Constant)]
    return not words or any("r" in str(word) or "+" in str(word) for word in words)


def found() -> dict[str, str]:
    places = {}
    for path in sorted(SRC.rglob("*.py")):
        name = path.relative_to(SRC).as_posix()
        if not name.startswith(APART):
            for inside, call in reads(ast.parse(path.read_text(encoding="utf-8"))):
                places[f"{name} {inside}"] = f"line {call.lineno}: {ast.unparse(call)}"
    return places


def test_named_files_are_read_by_one_module() -> None:
    others = {place: call for place, call in found().items() if place not in ALLOWED}
    assert not others, "read these with traindx.core.files"


def test_nothing_is_allowed_that_is_not_there() -> None:
    assert ALLOWED.keys() <= found().keys()


def test_reads_are_seen() -> None:
    text = """
def f(path):
    open(path); open(path, "rb"); open(path, mode="a+"); Path(path).open(); path.read_text()
    tokenize.open(path); io.open_code(path); os.open(path, os.O_RDONLY); linecache.getline(path, 1)
    shutil.copyfile(a, b)
    sqlite3.connect(path); gzip.open(path); np.memmap(path)
    open(path, "w"); open(path, "w" if x else "x"); path.open("x"); os.open(path, os.O_WRONLY); self.open()
"""
    assert len(list(reads(ast.parse(text)))) == 13
