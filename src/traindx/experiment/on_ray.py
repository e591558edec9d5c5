"""Arms on a Ray cluster: each is a task that makes its own copy and sends its recording back.

The workers must see the program's folder under the same path, as on a shared file system.
"""

from __future__ import annotations

import io
import logging
import os
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import ray

from traindx.experiment.arms import Arm, Progress, Stop, Workshop, least
from traindx.experiment.outcomes import Outcome, read_trainings
from traindx.observe.program import Program


class RayWorkshop(Workshop):
    """A workshop whose arms run as tasks of Ray: on the cluster of RAY_ADDRESS, else on one of its own."""

    def __enter__(self) -> RayWorkshop:
        self._ours = not ray.is_initialized()
        if self._ours:
            address = os.environ.get("RAY_ADDRESS")
            local: dict[str, Any] = {} if address else {"num_cpus": self.jobs, "include_dashboard": False}
            # Workers are as important as anything else here: by default they give way to every process.
            os.environ.setdefault("RAY_worker_niceness", "0")
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **local)
        self._place = tempfile.TemporaryDirectory(prefix="traindx-ray-")
        return self

    def close(self) -> None:
        self._place.cleanup()
        if self._ours:
            ray.shutdown()

    def run(
        self,
        arms: Iterable[Arm],
        *,
        timeout: float | None = None,
        progress: Progress | None = None,
        stop: Stop | None = None,
    ) -> Iterator[Outcome]:
        """The outcomes as the tasks end; running tasks are not monitored."""
        del progress, stop
        task = ray.remote(num_cpus=1, max_retries=0)(_run)
        waiting = {
            task.remote(self.program, self.cwd, arm, least(timeout, self.seconds_left)): arm for arm in arms
        }
        try:
            while waiting:
                ready, _ = ray.wait(list(waiting), num_returns=1)
                waiting.pop(ready[0])
                yield self._unpacked(*ray.get(ready[0]))
        finally:
            for reference in waiting:
                ray.cancel(reference, force=True)

    def _unpacked(self, outcome: Outcome, packed: bytes) -> Outcome:
        """The recording here, and the run read from it."""
        self._count += 1
        folder = Path(self._place.name) / f"a{self._count}"
        folder.mkdir()
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        trainings = read_trainings(folder)
        run = trainings[0] if trainings else None
        return self.noted(replace(outcome, recording=folder, run=run, trainings=trainings))


def _run(program: Program, cwd: str, arm: Arm, timeout: float | None) -> tuple[Outcome, bytes]:
    """In a worker: one arm in a workshop of its own."""
    with tempfile.TemporaryDirectory(prefix="traindx-ray-") as folder:
        with Workshop(program, keep=Path(folder), jobs=1, folder=cwd) as shop:
            outcome = shop.run_one(arm, timeout)
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(outcome.recording, ".")
    return replace(outcome, run=None, trainings=()), packed.getvalue()
