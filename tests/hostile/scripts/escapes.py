"""A training that tries to get out of its copy: `escapes.py USER ELSEWHERE MEMORY [no-c]`.

USER is its own folder, ELSEWHERE another one, MEMORY a folder in `/dev/shm`; `no-c` leaves out what only the
kernel can prevent. Every attempt is printed as a
line `name: what came of it`. Afterwards it must still train, with loader workers that use shared memory.
"""

import ctypes
import faulthandler
import io
import logging
import mmap
import multiprocessing
import os
import pathlib
import posix
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from multiprocessing import shared_memory

import numpy as np
import torch

USER, ELSEWHERE, MEMORY = sys.argv[1:4]
LARGE, SMALL, OTHER = f"{USER}/large.bin", f"{USER}/small.txt", f"{ELSEWHERE}/other.txt"
LIBC = ctypes.CDLL(None, use_errno=True)
ATTEMPTS = []
OF_C = ("_from_c", "attaches_a_database", "mounts")


def attempt(call):
    ATTEMPTS.append(call)
    return call


def on(*paths):
    """The same attempt on several files, as attempts of their own."""

    def keep(call):
        for path in paths:
            where = "memory" if path.startswith("/dev") else os.path.basename(path).partition(".")[0]

            def one(path=path):
                return call(path)

            one.__name__ = f"{call.__name__}_{where}"
            ATTEMPTS.append(one)
        return call

    return keep


def reading(path):
    return os.open(path, os.O_RDONLY)


FILES = (LARGE, SMALL, OTHER, f"{MEMORY}/kept.txt")


# Rights, owners and times through descriptors.


@on(*FILES)
def fchmod(path):
    os.fchmod(reading(path), 0o600)


@on(*FILES)
def chmod_of_descriptor(path):
    os.chmod(reading(path), 0o600)


@on(*FILES)
def fchown(path):
    os.fchown(reading(path), 1, 1)


@on(*FILES)
def utime_of_descriptor(path):
    os.utime(reading(path), (1, 1))


@on(LARGE, OTHER)
def setxattr_of_descriptor(path):
    os.setxattr(reading(path), "user.traindx", b"1")


@on(LARGE, OTHER)
def rights_by_posix(path):
    posix.chmod(path, 0o600)


@on(LARGE, OTHER)
def times_by_posix(path):
    posix.utime(path, (1, 1))


@on(*FILES)
def reopens_its_descriptor(path):
    with open(f"/proc/self/fd/{reading(path)}", "r+b") as file:
        file.write(b"escaped")


@on(*FILES)
def reopens_below_dev(path):
    with open(f"/dev/fd/{reading(path)}", "r+b") as file:
        file.write(b"escaped")


@on(OTHER, f"{MEMORY}/kept.txt")
def goes_through_the_process_root(path):
    with open(f"/proc/self/root{path}", "w") as file:
        file.write("escaped")


# By folder descriptors.


@attempt
def opens_in_a_folder():
    os.write(os.open("other.txt", os.O_WRONLY | os.O_TRUNC, dir_fd=reading(ELSEWHERE)), b"escaped")


@attempt
def removes_in_a_folder():
    os.unlink("removed.txt", dir_fd=reading(ELSEWHERE))


@attempt
def renames_in_a_folder():
    folder = reading(ELSEWHERE)
    os.rename("renamed.txt", "escaped.txt", src_dir_fd=folder, dst_dir_fd=folder)


@attempt
def links_in_a_folder():
    os.link("other.txt", "escaped-link.txt", src_dir_fd=reading(ELSEWHERE), dst_dir_fd=reading(ELSEWHERE))


@attempt
def makes_in_a_folder():
    os.mkdir("escaped", dir_fd=reading(ELSEWHERE))


@attempt
def symlinks_in_a_folder():
    os.symlink("x", "escaped-soft", dir_fd=reading(ELSEWHERE))


@attempt
def rights_in_a_folder():
    os.chmod("other.txt", 0o600, dir_fd=reading(ELSEWHERE))


@attempt
def times_in_a_folder():
    os.utime("other.txt", (1, 1), dir_fd=reading(ELSEWHERE))


# Shared memory and the system's folders.


@attempt
def removes_the_file_in_memory():
    os.remove("/dev/shm/" + os.path.basename(MEMORY) + ".txt")
    return os.path.exists(MEMORY + ".txt")


@attempt
def writes_new_files_in_memory():
    with open(MEMORY + "-new.txt", "w") as file:
        file.write("new")
    os.mkdir(MEMORY + "-folder")
    return open(MEMORY + "-new.txt").read()


@attempt
def removes_memory_by_posix():
    posix.unlink(f"{MEMORY}/kept.txt")


@attempt
def renames_memory():
    os.rename(f"{MEMORY}/renamed.txt", f"{MEMORY}/escaped.txt")
    return os.listdir(MEMORY)


@attempt
def removes_the_tree_in_memory():
    shutil.rmtree(MEMORY)
    return os.path.exists(MEMORY)


@attempt
def makes_a_file_in_dev():
    with open("/dev/traindx-escaped", "w") as file:
        file.write("escaped")


@attempt
def makes_a_file_in_dev_by_posix():
    os.write(posix.open("/dev/traindx-escaped", os.O_WRONLY | os.O_CREAT), b"escaped")


@attempt
def sets_a_kernel_setting():
    with open("/proc/sys/kernel/domainname", "w") as file:
        file.write("escaped")


@attempt
def sets_a_kernel_setting_by_posix():
    os.write(posix.open("/proc/sys/kernel/domainname", os.O_WRONLY), b"escaped")


# Python's many ways to write.


@attempt
def truncates_without_creating():
    path = f"{ELSEWHERE}/truncated.txt"
    os.write(os.open(path, os.O_WRONLY | os.O_TRUNC), b"short")
    return open(path).read(), oct(os.stat(path).st_mode & 0o777)


@attempt
def opens_by_its_class():
    io.FileIO(OTHER, "w").write(b"escaped")


@attempt
def opens_by_the_library_in_c():
    import _io

    _io.open(OTHER, "w").write("escaped")


@attempt
def truncates():
    os.truncate(OTHER, 1)


@attempt
def truncates_by_posix():
    posix.truncate(OTHER, 1)


@attempt
def maps_memory():
    with open(LARGE, "r+b") as file, mmap.mmap(file.fileno(), 0) as view:
        view[:7] = b"escaped"


@attempt
def maps_an_array():
    np.memmap(LARGE, dtype="uint8", mode="r+")[:4] = 7


@attempt
def links_and_writes():
    os.link(OTHER, "linked.txt")
    with open("linked.txt", "a") as file:
        file.write("escaped")


@attempt
def symlinks_and_writes():
    os.symlink(OTHER, "soft.txt")
    with open("soft.txt", "a") as file:
        file.write("escaped")


@attempt
def replaces_from_the_copy():
    with open("fresh.txt", "w") as file:
        file.write("escaped")
    os.replace("fresh.txt", OTHER)


@attempt
def replaces_by_posix():
    with open("fresh.txt", "w") as file:
        file.write("escaped")
    posix.rename(os.path.abspath("fresh.txt"), OTHER)


@attempt
def makes_a_nameless_file():
    os.write(os.open(ELSEWHERE, os.O_TMPFILE | os.O_WRONLY), b"x")


@attempt
def makes_a_pipe_file():
    os.mkfifo(f"{ELSEWHERE}/pipe")


@attempt
def copies_a_range():
    source, target = reading(SMALL), os.open(OTHER, os.O_WRONLY)
    os.copy_file_range(source, target, 3)


@attempt
def unpacks_archives():
    with zipfile.ZipFile("a.zip", "w") as archive:
        archive.writestr("other.txt", "escaped")
    zipfile.ZipFile("a.zip").extractall(ELSEWHERE)
    with tarfile.open("a.tar", "w") as archive:
        archive.add("a.zip", "other.txt")
    with tarfile.open("a.tar") as archive:
        archive.extractall(ELSEWHERE, filter="data")


@attempt
def attaches_a_database():
    base = sqlite3.connect(":memory:")
    base.execute(f"attach '{ELSEWHERE}/new.db' as other")
    base.execute("create table other.x (y)")
    base.commit()


@attempt
def logs_and_dumps():
    logging.FileHandler(f"{ELSEWHERE}/log.txt").emit(logging.makeLogRecord({"msg": "escaped"}))
    with open(f"{ELSEWHERE}/faults.txt", "w") as file:
        faulthandler.dump_traceback(file)
    with tempfile.NamedTemporaryFile(dir=ELSEWHERE, delete=False) as file:
        file.write(b"escaped")
    pathlib.Path(ELSEWHERE, "path.txt").write_text("escaped")
    torch.save({}, f"{ELSEWHERE}/model.pt", _use_new_zipfile_serialization=False)


@attempt
def makes_a_trees_copy():
    shutil.copytree(f"{ELSEWHERE}/tree", f"{ELSEWHERE}/tree-2")
    shutil.move(f"{ELSEWHERE}/tree", f"{ELSEWHERE}/tree-3")
    return sorted(os.listdir(f"{ELSEWHERE}/tree-3"))


@attempt
def changes_folder_and_climbs():
    os.chdir(ELSEWHERE)
    with open("../elsewhere/other.txt", "w") as file:
        file.write("escaped")
    os.chdir(USER)


# Libraries in C and programs.


@attempt
def writes_from_c():
    handle = LIBC.open(OTHER.encode(), os.O_WRONLY | os.O_TRUNC)
    return handle, os.strerror(ctypes.get_errno())


@on(LARGE, OTHER)
def rights_from_c(path):
    return LIBC.chmod(path.encode(), 0o600), LIBC.fchmod(reading(path), 0o600)


@attempt
def owner_from_c():
    return LIBC.chown(OTHER.encode(), 1, 1)


@attempt
def removes_from_c():
    return LIBC.unlink(OTHER.encode()), LIBC.unlink(f"{MEMORY}/kept.txt".encode())


def program(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, **options)
    return done.returncode, done.stderr.strip()[-80:]


@attempt
def removes_by_program():
    return program("rm", "-rf", MEMORY, ELSEWHERE)


@attempt
def rights_by_program():
    return program("chmod", "600", OTHER, LARGE, f"{MEMORY}/kept.txt")


@attempt
def times_by_program():
    return program("touch", "-d", "2001-01-01", OTHER, LARGE)


@attempt
def writes_by_shell():
    return program(f"echo escaped > {OTHER}; echo escaped > {MEMORY}/kept.txt", shell=True)


@attempt
def writes_by_another_python():
    return program(sys.executable, "-S", "-c", f"open({OTHER!r}, 'w').write('escaped')")


@attempt
def spawns():
    pid = os.posix_spawn("/bin/sh", ["sh", "-c", f"rm -f {OTHER}"], os.environ)
    return os.waitpid(pid, 0)[1]


@attempt
def forks_and_executes():
    pid = os.fork()
    if not pid:
        os.execv("/bin/sh", ["sh", "-c", f"echo escaped >> {OTHER}"])
    return os.waitpid(pid, 0)[1]


def overwrite(path):
    with open(path, "w") as file:
        file.write("escaped")
    posix.unlink(path)


@attempt
def writes_in_workers():
    codes = []
    for how in ("fork", "spawn", "forkserver"):
        child = multiprocessing.get_context(how).Process(target=overwrite, args=(OTHER,))
        child.start()
        child.join()
        codes.append(child.exitcode)
    return codes


@attempt
def mounts():
    return LIBC.mount(b"none", b"/", None, 1 << 5 | 1 << 12, None), os.strerror(ctypes.get_errno())


# What must go on working.


@attempt
def uses_shared_memory():
    block = shared_memory.SharedMemory(create=True, size=16)
    block.buf[:3] = b"abc"
    other = shared_memory.SharedMemory(name=block.name)
    found = bytes(other.buf[:3])
    other.close()
    block.close()
    block.unlink()
    lock = multiprocessing.Lock()
    with lock:
        return found


def main():
    if not os.path.samefile(".", USER):
        print("here: another folder")
    for call in ATTEMPTS:
        if "no-c" in sys.argv and any(name in call.__name__ for name in OF_C):
            continue
        try:
            said = repr(call())
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        print(f"{call.__name__}: {said}".replace("\n", " "), flush=True)
    data = torch.utils.data.TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for strategy in ("file_descriptor", "file_system"):
        torch.multiprocessing.set_sharing_strategy(strategy)
        for x, y in torch.utils.data.DataLoader(data, batch_size=16, num_workers=2):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
    print("trained: True")


if __name__ == "__main__":
    main()
