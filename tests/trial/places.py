"""A user's folders as trials find them, and their state before and after."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
from pathlib import Path

import numpy as np

State = dict[str, tuple[int, int, str]]


def make(base: Path) -> tuple[Path, Path, Path]:
    """A project under git, a folder elsewhere that it also writes to, and a home."""
    user, elsewhere, home = base / "work" / "project", base / "elsewhere", base / "home"
    for folder in ("ckpt", "data", "many", "runs/old"):
        (user / folder).mkdir(parents=True)
    for folder in (elsewhere / "whole" / "deep", elsewhere / "linked", base / "work" / "beside", home):
        folder.mkdir(parents=True)
    np.zeros(2 << 20, dtype="uint8").tofile(user / "data" / "large.npy")
    (user / "ckpt" / "big.pt").write_bytes(os.urandom(2 << 20))
    for number in range(2100):
        (user / "many" / f"{number}.txt").touch()
    for name in ("log", "old", "a", "c", "d", "e", "rights"):
        (user / f"{name}.txt").write_text(f"{name}\n")
    (user / "runs" / "old" / "x").write_text("x")
    for name in ("log", "rights", "moved", "file", "whole/x", "whole/deep/y", "linked/z"):
        (elsewhere / f"{name}.txt").write_text(f"{name}\n")
    for name in ("x", "y"):
        (base / "work" / "beside" / f"{name}.txt").write_text(name)
    (user / "linked").symlink_to(elsewhere / "linked")
    (user / "linked_file.txt").symlink_to(elsewhere / "file.txt")
    with sqlite3.connect(user / "runs.db") as database:
        database.execute("create table runs (number)")
        database.execute("insert into runs values (1)")
    (user / ".gitignore").write_text("many/\ndata/\n*.pt\n")
    for words in (["init", "-q"], ["add", "-A"], [*WHO, "commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=user, check=True)
    for words in (("user.name", "A"), ("user.email", "a@b.c")):
        subprocess.run(["git", "config", *words], cwd=user, check=True)
    return user, elsewhere, home


WHO = ["-c", "user.name=A", "-c", "user.email=a@b.c"]


def state(base: Path) -> State:
    """Names, sizes, times of change and contents of everything below a folder."""
    found: State = {}
    for folder, _, names in os.walk(base):
        for path in [folder, *(os.path.join(folder, name) for name in names)]:
            facts = os.lstat(path)
            if os.path.islink(path):
                inside = os.readlink(path)
            else:
                inside = "" if os.path.isdir(path) else hashlib.sha256(Path(path).read_bytes()).hexdigest()
            found[os.path.relpath(path, base)] = (facts.st_mode, facts.st_mtime_ns, inside)
    return found
