"""Which process of a distributed training this is, as its launcher says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

# torchrun and everything like it; Open MPI; Slurm.
_SAID = (
    ("RANK", "LOCAL_RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS"),
)


@dataclass(frozen=True)
class LaunchedRank:
    """`key` is the same for all processes on this machine that one launcher started together."""

    rank: int = 0
    local: int = 0
    world: int = 1
    node: int = 0
    restart: int = 0
    key: str = ""

    @property
    def speaks(self) -> bool:
        """Whether this process prints and diagnoses for all of its machine."""
        return self.local == 0


def place(environment: Mapping[str, str] = os.environ) -> LaunchedRank:
    for rank, local, world in _SAID:
        number, size = _whole(environment.get(rank)), _whole(environment.get(world))
        if number is None or size is None or size < 2 or not 0 <= number < size:
            continue
        return LaunchedRank(
            rank=number,
            local=_or(_whole(environment.get(local)), number),
            world=size,
            node=_or(_whole(environment.get("GROUP_RANK", environment.get("SLURM_NODEID"))), 0),
            restart=_or(_whole(environment.get("TORCHELASTIC_RESTART_COUNT")), 0),
            key=launch_key(environment),
        )
    return LaunchedRank()


def launch_key(environment: Mapping[str, str] = os.environ) -> str:
    """The same for all processes on this machine that one launcher started together."""
    port = environment.get("MASTER_PORT", "")
    return f"{os.getppid()}-{port}" if port.isdigit() else f"{os.getppid()}"


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def _or(number: int | None, default: int) -> int:
    return default if number is None else number
