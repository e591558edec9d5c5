"""Prints the log of a training that diverges, then ends in the way that its first argument says."""

import atexit
import math
import os
import signal
import sys
import threading
import time

STEPS = 60


def attendant() -> int:
    """The process beside this one."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    words = file.read()
            except OSError:
                continue
            if b"traindx.cli._monitor" in words and f'"pid": {os.getpid()},'.encode() in words:
                return int(name)
    return 0


def train() -> None:
    for step in range(STEPS):
        loss = 2.5 * 0.95**step if step < 30 else 0.54 * math.exp(0.8 * (step - 30))
        print(f"step {step} loss {loss if step < 50 else math.nan:.5f} lr 0.1")
    time.sleep(0.3)
    print("trained", flush=True)


def late() -> None:
    time.sleep(0.2)
    print("a thread goes on", flush=True)


def become() -> None:
    if "again" not in sys.argv:
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, *sys.argv, "again"])
    time.sleep(1)
    print("became another", flush=True)


def close_all() -> None:
    global kept
    os.closerange(3, 64)
    kept = [open(f"mine-{number}.txt", "w") for number in range(20)]  # noqa: SIM115
    print(len(kept), "files", flush=True)


def without_attendant() -> None:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(attendant(), signal.SIGKILL)
    time.sleep(0.1)


def look_at_attendant() -> None:
    pid = attendant()
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        print("numpy loaded" if "numpy" in file.read() else "asleep")
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    print("a child" if int(fields[1]) == os.getpid() else "no child", "nice", fields[16])


def unclosed() -> None:
    global file
    atexit.register(print, "registered by the program")
    threading.Thread(target=late).start()
    file = open("unclosed.txt", "w")  # noqa: SIM115
    file.write("whole")


WAYS = {
    "finish": lambda: None,
    "raise": lambda: [][1],
    "exit": lambda: sys.exit(3),
    "gone": lambda: os._exit(4),
    "memory": lambda: bytearray(1 << 60),
    "terminate": lambda: os.kill(os.getpid(), signal.SIGTERM),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "interrupt": lambda: os.killpg(0, signal.SIGINT),
    "become": become,
    "close_all": close_all,
    "without_attendant": without_attendant,
    "look": look_at_attendant,
    "unclosed": unclosed,
}

if __name__ == "__main__":
    if not {"again", "close_all"} & set(sys.argv):
        train()
    WAYS[sys.argv[1]]()
