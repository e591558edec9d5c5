"""A training that writes wherever it can: `writes.py KIND USER ELSEWHERE`.

Each attempt is told as a line `name: what came of it`; nothing may reach the folders it names.
"""

from __future__ import annotations

import ctypes
import glob
import io
import multiprocessing
import os
import pathlib
import posix
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import numpy as np
import torch

KIND, USER, ELSEWHERE = sys.argv[1:4]
ATTEMPTS = {}


def attempt(kind):
    def keep(call):
        ATTEMPTS.setdefault(kind, []).append(call)
        return call

    return keep


def write(path, text="new", mode="w"):
    with open(path, mode) as file:
        file.write(text)


def text(path):
    with open(path) as file:
        return file.read()


@attempt("files")
def overwrites_its_checkpoint():
    torch.save({"w": torch.zeros(3)}, "ckpt/big.pt")
    return len(torch.load("ckpt/big.pt")["w"])


@attempt("files")
def saves_over_an_absolute_checkpoint():
    torch.save({"w": torch.zeros(5)}, f"{USER}/ckpt/other.pt")
    return len(torch.load(os.path.join(USER, "ckpt", "other.pt"))["w"]), os.path.exists(
        f"{USER}/ckpt/other.pt"
    )


@attempt("files")
def appends_to_its_log():
    write("log.txt", "more\n", "a")
    return text(f"{USER}/log.txt")


@attempt("files")
def changes_a_large_file_in_place():
    array = np.memmap("data/large.npy", dtype="uint8", mode="r+")
    array[:4] = 7
    array.flush()
    with open(f"{USER}/data/large.npy", "r+b") as file:
        file.seek(4)
        file.write(b"\x09")
    with open("data/large.npy", "rb") as file:
        return list(file.read(6)), os.path.getsize("data/large.npy")


@attempt("files")
def saves_arrays():
    np.save(f"{USER}/data/array.npy", np.arange(3))
    np.arange(4).tofile("data/raw.bin")
    return np.load("data/array.npy").tolist(), os.path.getsize(f"{USER}/data/raw.bin")


@attempt("files")
def writes_into_a_crowded_folder():
    write("many/17.txt")
    os.remove("many/18.txt")
    return text(f"{USER}/many/17.txt"), os.path.exists("many/18.txt"), len(os.listdir(f"{USER}/many"))


@attempt("files")
def removes_and_renames():
    os.remove(f"{USER}/old.txt")
    os.rename(f"{USER}/a.txt", "b.txt")
    os.replace("c.txt", f"{USER}/d.txt")
    pathlib.Path(USER, "e.txt").unlink()
    return sorted(name for name in os.listdir(USER) if name.endswith(".txt"))


@attempt("files")
def removes_whole_folders():
    shutil.rmtree(f"{USER}/runs")
    shutil.rmtree(f"{ELSEWHERE}/whole")
    os.makedirs(f"{USER}/runs/new")
    return os.listdir(f"{USER}/runs"), os.path.exists(f"{ELSEWHERE}/whole")


@attempt("files")
def changes_rights_and_times():
    os.chmod(f"{USER}/rights.txt", 0o600)
    os.utime(f"{ELSEWHERE}/rights.txt", (0, 0))
    os.truncate(f"{ELSEWHERE}/rights.txt", 1)
    return os.stat("rights.txt").st_mode & 0o777, os.stat(f"{ELSEWHERE}/rights.txt").st_size


@attempt("files")
def writes_elsewhere():
    write(f"{ELSEWHERE}/log.txt", "more", "a")
    write(f"{ELSEWHERE}/new/deep.txt") if os.path.isdir(f"{ELSEWHERE}/new") else None
    os.makedirs(f"{ELSEWHERE}/made/deep", exist_ok=True)
    write(f"{ELSEWHERE}/made/deep/x.txt", "y")
    shutil.copy(f"{ELSEWHERE}/log.txt", f"{ELSEWHERE}/copied.txt")
    shutil.move(f"{ELSEWHERE}/moved.txt", f"{USER}/moved.txt")
    names = sorted(os.path.basename(name) for name in glob.glob(f"{ELSEWHERE}/*.txt"))
    return names, text(f"{ELSEWHERE}/copied.txt"), text(f"{ELSEWHERE}/made/deep/x.txt")


@attempt("files")
def writes_at_home():
    write(os.path.expanduser("~/notes.txt"))
    pathlib.Path.home().joinpath(".cache").mkdir(exist_ok=True)
    pathlib.Path("~/.cache/model.bin").expanduser().write_bytes(b"12")
    return text(os.path.expanduser("~/notes.txt"))


@attempt("files")
def writes_through_links():
    write("linked/through.txt")
    write("linked_file.txt", "more", "a")
    return text(f"{ELSEWHERE}/linked/through.txt"), text("linked_file.txt")


@attempt("files")
def climbs_out():
    write("../beside/x.txt", "more", "a")
    write("../fresh.txt")
    return text("../beside/x.txt"), text("../beside/y.txt"), os.listdir("../beside")


@attempt("files")
def keeps_a_database():
    with sqlite3.connect(f"{USER}/runs.db") as database:
        database.execute("insert into runs values (2)")
    with sqlite3.connect("runs.db") as database:
        return database.execute("select count(*) from runs").fetchone()


@attempt("files")
def logs_with_logging():
    import logging

    logging.basicConfig(filename=f"{ELSEWHERE}/training.log", level="INFO", force=True)
    logging.info("hello")
    logging.shutdown()
    return "hello" in text(f"{ELSEWHERE}/training.log")


@attempt("files")
def uses_temporary_files():
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile(dir=USER) as file:
        write(os.path.join(folder, "x"))
        return os.path.exists(file.name)


@attempt("files")
def goes_elsewhere():
    here = os.getcwd()
    os.chdir(f"{ELSEWHERE}/linked")
    write("here.txt")
    subprocess.run("echo program > there.txt", shell=True, check=True)
    found = sorted(os.listdir("."))
    os.chdir(here)
    return found


@attempt("refused")
def opens_by_its_class():
    io.FileIO(f"{ELSEWHERE}/class.txt", "w")


@attempt("refused")
def removes_by_descriptor():
    handle = os.open(ELSEWHERE, os.O_RDONLY)
    posix.unlink("log.txt", dir_fd=handle)


@attempt("refused")
def writes_from_c():
    libc = ctypes.CDLL(None, use_errno=True)
    handle = libc.open(f"{ELSEWHERE}/log.txt".encode(), os.O_WRONLY | os.O_TRUNC)
    return handle, os.strerror(ctypes.get_errno())


@attempt("refused")
def saves_with_cplusplus():
    torch._C.PyTorchFileWriter(f"{ELSEWHERE}/archive.pt")


@attempt("programs")
def copies_by_program():
    subprocess.run(["cp", "log.txt", f"{USER}/copy.txt"], check=True)
    subprocess.run(f"echo more >> {USER}/log.txt; rm {USER}/old.txt", shell=True, check=True)
    os.system("echo system >> log.txt")
    return text(f"{USER}/copy.txt"), text("log.txt"), os.path.exists("old.txt")


@attempt("programs")
def copies_elsewhere_by_program():
    done = subprocess.run(
        ["cp", "log.txt", f"{ELSEWHERE}/log.txt"], capture_output=True, text=True, check=False
    )
    return done.returncode, "denied" in done.stderr or "Read-only" in done.stderr


@attempt("programs")
def starts_python():
    code = "import sys; open('child.txt', 'w').write('x'); open(sys.argv[1], 'w').write('y')"
    done = subprocess.run(
        [sys.executable, "-c", code, f"{ELSEWHERE}/child.txt"], capture_output=True, text=True, check=False
    )
    return done.returncode, os.path.exists("child.txt"), "Error" in done.stderr


@attempt("programs")
def commits():
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], text=True).strip()
    write("train_me.txt")
    subprocess.run(["git", "add", "-A"], check=True)
    subprocess.run(["git", "commit", "-qm", "results"], check=True)
    return subprocess.check_output(["git", "rev-parse", "HEAD~1"], text=True).strip() == head


def _child(path):
    try:
        write(path)
        return text(path)
    except Exception as error:
        return type(error).__name__


@attempt("processes")
def writes_in_forked_workers():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        said = pool.map(_child, [f"{USER}/fork.txt", f"{ELSEWHERE}/fork.txt"])
    return said, text("fork.txt"), text(f"{ELSEWHERE}/fork.txt")


@attempt("processes")
def writes_in_spawned_workers():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.map(_child, [f"{USER}/spawn.txt", f"{ELSEWHERE}/spawn.txt"])


def train():
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        loss = model(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    for call in ATTEMPTS[KIND]:
        try:
            print(f"{call.__name__}: {call()!r}", flush=True)
        except Exception as error:
            print(f"{call.__name__}: {type(error).__name__}: {error}", flush=True)
    train()
