"""Every loss that torch.nn has, each for one step."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)
net = nn.Linear(6, 6)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)


def x(n=8):
    return net(torch.randn(n, 6))


def classes(n=8):
    return torch.randint(0, 6, (n,))


signs = torch.tensor([1.0, -1.0] * 4)
LOSSES = [
    lambda: nn.L1Loss()(x(), torch.randn(8, 6)),
    lambda: nn.MSELoss(reduction="none")(x(), torch.randn(8, 6)).mean(),
    lambda: nn.CrossEntropyLoss(weight=torch.ones(6), ignore_index=-100)(x(), classes()),
    lambda: nn.CrossEntropyLoss()(x(), torch.rand(8, 6).softmax(1)),
    lambda: F.cross_entropy(x().unsqueeze(-1), classes().unsqueeze(-1)),
    lambda: F.cross_entropy(input=x(), target=classes(), reduction="sum"),
    lambda: nn.NLLLoss()(x().log_softmax(1), classes()),
    lambda: nn.PoissonNLLLoss()(x(), torch.ones(8, 6)),
    lambda: nn.GaussianNLLLoss()(x(), torch.randn(8, 6), torch.ones(8, 6)),
    lambda: nn.KLDivLoss(reduction="batchmean")(x().log_softmax(1), torch.rand(8, 6).softmax(1)),
    lambda: nn.BCELoss()(x().sigmoid(), torch.rand(8, 6).round()),
    lambda: nn.BCEWithLogitsLoss(pos_weight=torch.ones(6))(x(), torch.rand(8, 6).round()),
    lambda: nn.MarginRankingLoss()(x()[:, 0], x()[:, 1], signs),
    lambda: nn.HingeEmbeddingLoss()(x()[:, 0], signs),
    lambda: nn.MultiLabelMarginLoss()(x(), torch.tensor([[1, 2, -1, 0, 0, 0]] * 8)),
    lambda: nn.HuberLoss()(x(), torch.randn(8, 6)),
    lambda: nn.SmoothL1Loss()(x(), torch.randn(8, 6)),
    lambda: nn.SoftMarginLoss()(x()[:, 0], signs),
    lambda: nn.MultiLabelSoftMarginLoss()(x(), torch.rand(8, 6).round()),
    lambda: nn.CosineEmbeddingLoss()(x(), x(), signs),
    lambda: nn.MultiMarginLoss()(x(), classes()),
    lambda: nn.TripletMarginLoss()(x(), x(), x()),
    lambda: nn.TripletMarginWithDistanceLoss()(x(), x(), x()),
    lambda: nn.CTCLoss()(
        x(8 * 5).view(5, 8, 6).log_softmax(2),
        torch.randint(1, 6, (8, 2)),
        torch.full((8,), 5),
        torch.full((8,), 2),
    ),
    lambda: (
        torch.cross_entropy_loss(x(), classes())
        if hasattr(torch, "cross_entropy_loss")
        else x().square().mean()
    ),
    lambda: torch.nn.AdaptiveLogSoftmaxWithLoss(6, 6, [2])(x(), classes()).loss,
    lambda: torch.logsumexp(x(), 1).mean(),
]
for step, loss_of in enumerate(LOSSES, start=1):
    loss = loss_of()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        val = loss_of()
    print(f"step {step} loss {loss.item():.6f} again {val.item():.6f} {loss.shape}")
result(net, optimizer)
