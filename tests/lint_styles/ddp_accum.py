import contextlib, os, torch, torch.distributed as dist, torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler
def main():
    dist.init_process_group("gloo")
    model = DDP(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    ds = make_dataset()
    sampler = DistributedSampler(ds)
    dl = DataLoader(ds, batch_size=8, sampler=sampler)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=10)
    accum = 4
    for epoch in range(10):
        sampler.set_epoch(epoch)
        model.train()
        for i, (x, y) in enumerate(dl):
            sync = (i + 1) % accum == 0
            with contextlib.nullcontext() if sync else model.no_sync():
                loss = nn.functional.cross_entropy(model(x), y) / accum
                loss.backward()
            if sync:
                opt.step()
                opt.zero_grad()
        sched.step()
if __name__ == "__main__":
    main()
