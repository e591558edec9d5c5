"""What reading costs: in a process of its own, whose memory the kernel counts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

_LOOK = """
import json, os, sys, time
import traindx
began = time.process_time()
found = traindx.read(*json.loads(sys.argv[1]))
seconds = time.process_time() - began
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
notes = [note.text for run in found.runs for note in run.notes] + [note.text for note in found.skipped]
print(json.dumps({"mib": peak / 1024, "seconds": seconds, "runs": len(found.runs), "notes": notes[:1000],
                  "points": [run.points for run in found.runs][:100]}))
"""


def reading(*paths: Path, timeout: float = 300) -> dict[str, Any]:
    """Memory in MiB, processor time, runs and notes of `traindx.read`."""
    done = subprocess.run(
        [sys.executable, "-c", _LOOK, json.dumps([str(path) for path in paths])],
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    assert not done.stderr, done.stderr.decode("utf-8", "replace")
    told: dict[str, Any] = json.loads(done.stdout)
    return told
