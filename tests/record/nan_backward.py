"""Little models with a finite loss whose gradients are not, each in another way people meet.

Each case gives the model, the loss, and what is to be found: the beginning of the operation's words, the
layer before it (or its own), and the layer after it.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tests.record.nan_models import LABELS, X, Y, data, mlp

Case = tuple[nn.Module, Tensor, tuple[str, str, str]]
BACKWARD: dict[str, Callable[[], Case]] = {}


def backward(case: Callable[[], Case]) -> Callable[[], Case]:
    BACKWARD[case.__name__] = case
    return case


def holed(tensor: Tensor) -> Tensor:
    """Half of it 0, as dropout leaves it: its slope there is 0 too, and 0 * inf is NaN."""
    torch.manual_seed(3)
    return F.dropout(tensor.abs(), 0.5)


@backward
def root_of_perfect_fit() -> Case:
    model = mlp(8, 6, 1)
    result = model(X)
    return model, (result - result.detach()).pow(2).mean().sqrt(), ("sqrt at 0", "fc2", "")


@backward
def root_between_layers() -> Case:
    model = mlp(8, 6, 6, 1)
    return model, model.fc3(holed(model.fc2(model.fc1(X).relu())).sqrt()).mean(), ("sqrt at 0", "fc2", "fc3")


@backward
def root_under_where() -> Case:
    model = mlp(8, 6, 1)
    hidden = model.fc1(X)
    hidden = torch.where(hidden > 0, hidden.sqrt(), torch.zeros_like(hidden))
    return model, model.fc2(hidden).mean(), ("sqrt at 0", "fc1", "fc2")


@backward
def log_under_where() -> Case:
    model = mlp(8, 6, 1)
    hidden = holed(model.fc1(X))
    hidden = torch.where(hidden > 0, hidden.log(), torch.zeros_like(hidden))
    return model, model.fc2(hidden).mean(), ("log near 0", "fc1", "fc2")


@backward
def division_under_where() -> Case:
    model = mlp(8, 6, 1)
    hidden = model.fc1(X)
    total = hidden.sum(1, keepdim=True) * 0
    hidden = torch.where(total > 0, hidden / total, torch.zeros_like(hidden))
    return model, model.fc2(hidden).mean(), ("division by a number near 0", "fc1", "fc2")


@backward
def exp_under_where() -> Case:
    model = mlp(8, 6, 1)
    hidden = model.fc1(X) * 500
    hidden = torch.where(hidden > 0, hidden, hidden.exp() - 1)
    hidden = hidden / (1 + hidden.pow(2).mean())
    return model, model.fc2(hidden).mean(), ("exp of a large number", "fc1", "fc2")


@backward
def log_cleaned_afterwards() -> Case:
    model = mlp(8, 6, 1)
    hidden = torch.nan_to_num(holed(model.fc1(X)).log(), 0, 0, 0)
    return model, model.fc2(hidden).mean(), ("log near 0", "fc1", "fc2")


@backward
def broken_power() -> Case:
    model = mlp(8, 6, 1)
    return model, model.fc2(holed(model.fc1(X)) ** 0.5).mean(), ("power of 0.5 near 0", "fc1", "fc2")


@backward
def broken_power_before_a_root() -> Case:
    """The loss is not 0, so the root that gave it was not taken at 0."""
    model = mlp(8, 6, 1)
    loss = (holed(model(X)) ** 0.5 - Y).pow(2).mean().sqrt()
    return model, loss, ("power of 0.5 near 0", "fc2", "")


@backward
def learned_power() -> Case:
    model = mlp(8, 6, 1)
    model.register_parameter("power", nn.Parameter(torch.tensor(2.0)))
    wanted = ("power with a base of 0 or less", "power", "fc2")
    return model, model.fc2(model.fc1(X) ** model.power).mean(), wanted


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, given):  # type: ignore[no-untyped-def]
        ctx.save_for_backward(given)
        return given.clamp(min=0)

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[no-untyped-def]
        (given,) = ctx.saved_tensors
        return gradient * given.clamp(min=0) / given.clamp(min=0)


@backward
def custom_function() -> Case:
    model = mlp(8, 6, 6, 1)
    hidden = Straight.apply(model.fc2(model.fc1(X).relu()))
    return model, model.fc3(hidden).mean(), ("custom function Straight", "fc2", "fc3")


@backward
def angle_to_itself() -> Case:
    model = mlp(8, 6, 4)
    ways = F.normalize(model(X), dim=1)
    cosine = (ways * ways.detach()).sum(1).clamp(-1, 1)
    return model, torch.acos(cosine).mean(), ("acos at the edge of its range", "fc2", "")


@backward
def length_of_nothing() -> Case:
    model = mlp(8, 6, 2)
    result = model(X) * 0
    return model, torch.hypot(result[:, 0], result[:, 1]).mean(), ("hypot at 0", "fc2", "")


@backward
def distances_to_itself() -> Case:
    model = mlp(8, 6, 4)
    points = model(X)
    gaps = ((points[:, None] - points[None]) ** 2).sum(-1).sqrt()
    return model, gaps.mean(), ("sqrt at 0", "fc2", "")


@backward
def norm_by_hand() -> Case:
    model = mlp(8, 6, 4)
    hidden = model.fc1(X) * 0
    loss = model.fc2(hidden).mean() + (hidden**2).sum(1).sqrt().mean()
    return model, loss, ("sqrt at 0", "fc1", "")


@backward
def equal_values_normalised_by_hand() -> Case:
    model = mlp(8, 6, 1)
    hidden = model.fc1(torch.ones(16, 8))
    spread = ((hidden - hidden.mean(0)) ** 2).mean(0).sqrt()
    return model, model.fc2(hidden / (spread + 1e-5)).mean(), ("sqrt at 0", "fc1", "fc2")


@backward
def entropy_by_xlogy() -> Case:
    model = mlp(8, 6, 4)
    shares = holed(model(X))
    return model, torch.xlogy(shares, shares).sum(), ("xlogy at 0", "fc2", "")


@backward
def equal_singular_values() -> Case:
    model = mlp(8, 6, 4)
    left, _, _ = torch.linalg.svd(model(X).view(16, 2, 2) * 0 + torch.eye(2))
    return model, left[..., 0].sum(), ("linalg svd with equal singular values", "fc2", "")


@backward
def lstm() -> Case:
    torch.manual_seed(0)
    model = nn.ModuleDict(
        {"front": nn.Linear(8, 8), "rnn": nn.LSTM(8, 6, batch_first=True), "head": nn.Linear(6, 1)}
    )
    result, _ = model.rnn(holed(model.front(data(4, 7, 8))).sqrt())
    return model, model.head(result[:, -1]).mean(), ("sqrt at 0", "front", "rnn")


@backward
def transformer() -> Case:
    torch.manual_seed(0)
    block = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model = nn.ModuleDict({"words": nn.Embedding(10, 8), "blocks": nn.TransformerEncoder(block, 2)})
    hidden = model.blocks(holed(model.words(torch.arange(20).view(4, 5) % 10)).sqrt())
    return model, hidden.pow(2).mean(), ("sqrt at 0", "words", "blocks.layers.0.self_attn")


@backward
def convolutions() -> Case:
    torch.manual_seed(0)
    model = nn.ModuleDict({"conv1": nn.Conv2d(1, 4, 3), "conv2": nn.Conv2d(4, 4, 3), "head": nn.Linear(4, 4)})
    hidden = model.conv2(holed(model.conv1(data(16, 1, 8, 8))).sqrt()).relu()
    loss = F.cross_entropy(model.head(hidden.mean((2, 3))), LABELS)
    return model, loss, ("sqrt at 0", "conv1", "conv2")


@backward
def residual_branch() -> Case:
    model = mlp(8, 8, 8, 1)
    hidden = model.fc1(X)
    return model, model.fc3(hidden + holed(model.fc2(hidden)).sqrt()).mean(), ("sqrt at 0", "fc2", "fc3")


@backward
def stopped_by_clamp() -> Case:
    """The clamp gives fc1 the gradient 0, so that a finite gradient stands behind the bad one."""
    model = mlp(8, 6, 6, 1)
    hidden = model.fc2((model.fc1(X) + 50).clamp(-1, 1))
    return model, model.fc3(holed(hidden).sqrt()).mean(), ("sqrt at 0", "fc2", "fc3")
