import torch


def batches(count, size):
    for _ in range(count):
        x = torch.randn(size, 7)
        yield x, (x[:, 0] * x[:, 1] > 0).long()
