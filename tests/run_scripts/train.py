"""Trains a small model, in the processes that its first argument says."""

import multiprocessing
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
STEPS = 6


class Numbers(Dataset):  # type: ignore[type-arg]
    def __len__(self) -> int:
        return 4 * STEPS

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.full((3,), index / 10)


def chatty(worker: int) -> None:
    print(f"worker {worker} is {multiprocessing.current_process().name.partition('-')[0]}", flush=True)


def train(rank: int = 0, workers: int = 0, context: str | None = None) -> None:
    torch.manual_seed(0)
    model: nn.Module = nn.Linear(3, 1)
    if dist.is_initialized():
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01 * (rank + 1))
    loader = DataLoader(
        Numbers(), 4, num_workers=workers, multiprocessing_context=context, worker_init_fn=chatty
    )
    for step, batch in enumerate(loader):
        optimizer.zero_grad()
        loss = (model(batch) - 1).square().mean()
        loss.backward()
        optimizer.step()
        if step == STEPS - 1:
            print(f"rank {rank} done: loss {loss.item():.6f}", flush=True)


def join(rank: int, port: int) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=2)
    train(rank)
    dist.destroy_process_group()


def free_port() -> int:
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def start(number: int, method: str) -> None:
    process = multiprocessing.get_context(method).Process(target=train, args=(number,))
    process.start()
    process.join()
    assert process.exitcode == 0


def main() -> None:
    way = sys.argv[1]
    print("the first process starts", flush=True)
    if way == "workers":
        train(0, 2, "fork")
        train(1, 1, "spawn")
    elif way == "children":
        for number, method in enumerate(("fork", "fork", "forkserver")):
            start(number, method)
    elif way == "spawn":
        mp.spawn(join, (free_port(),), nprocs=2)
    else:
        dist.init_process_group("gloo")
        train(dist.get_rank())
        dist.destroy_process_group()
    print("the first process ends", flush=True)


if __name__ == "__main__":
    main()
