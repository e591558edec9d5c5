"""Little models that go NaN or inf in the forward pass, each in another way people meet.

Each case gives the model, the loss, and what is to be found: the beginning of the operation's words, the
layer before it (or its own), and the layer after it; `INPUT` stands for the data.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tests.record.nan_models import INF, LABELS, X, Y, bad_at, data, grown, mlp

INPUT = "the data"
Case = tuple[nn.Module, Tensor, tuple[str, str, str]]
FORWARD: dict[str, Callable[[], Case]] = {}


def forward(case: Callable[[], Case]) -> Callable[[], Case]:
    FORWARD[case.__name__] = case
    return case


@forward
def log_of_zero() -> Case:
    model = mlp(8, 6, 1)
    return model, -model(X).relu().log().mean(), ("log of 0", "fc2", "")


@forward
def log_of_softmax() -> Case:
    model = grown(mlp(8, 6, 4), fc2=2000)
    return model, -model(X).softmax(1).log().mean(), ("log of 0", "fc2", "")


@forward
def division_by_own_sum() -> Case:
    model = mlp(8, 6, 1)
    hidden = model.fc1(X) * 0
    return model, model.fc2(hidden / hidden.sum(1, keepdim=True)).mean(), ("division of 0 by 0", "fc1", "fc2")


@forward
def division_by_deviation() -> Case:
    model = mlp(8, 6, 1)
    hidden = model.fc1(torch.ones(16, 8))
    hidden = (hidden - hidden.mean(0)) / hidden.std(0)
    return model, F.mse_loss(model.fc2(hidden), Y), ("division of 0 by 0", "fc1", "fc2")


@forward
def exp_of_large() -> Case:
    model = grown(mlp(8, 6, 1), fc2=5000)
    return model, model(X).exp().mean(), ("exp overflow", "fc2", "")


@forward
def variational_autoencoder() -> Case:
    model = grown(mlp(8, 6, 8), fc1=900)
    mean, spread = model.fc1(X).chunk(2, dim=1)
    code = mean + torch.exp(spread / 2) * data(16, 3)
    gap = -0.5 * (1 + spread - mean**2 - spread.exp()).sum()
    return model, F.mse_loss(model.fc2(torch.cat([code, code], 1)), X) + gap, ("exp overflow", "fc1", "fc2")


@forward
def half_weights() -> Case:
    model = grown(mlp(8, 6, 1).half(), fc1=3000, fc2=3000)
    loss = F.mse_loss(model((X * 10).half()).float(), Y)
    return model, loss, ("float16 overflow in matrix product", "fc2", "")


@forward
def autocast() -> Case:
    model = grown(mlp(8, 6, 1), fc1=3000, fc2=3000)
    with torch.autocast("cpu", torch.float16):
        result = model(X * 10)
    return model, F.mse_loss(result.float(), Y), ("float16 overflow in matrix product", "fc2", "")


@forward
def bfloat16_weights() -> Case:
    model = grown(mlp(8, 6, 1).bfloat16(), fc1=1e30, fc2=1e30)
    loss = model(X.bfloat16()).float().mean()
    return model, loss, ("bfloat16 overflow in matrix product", "fc2", "")


@forward
def square_in_half() -> Case:
    model = grown(mlp(8, 6, 1).half(), fc2=3000)
    loss = (model((X * 10).half()) - Y.half()).pow(2).mean()
    return model, loss, ("float16 overflow in power", "fc2", "")


@forward
def residuals_in_half() -> Case:
    model = mlp(8, 8, 8).half()
    hidden = (X * 200).half()
    for _ in range(12):
        hidden = hidden + model.fc1(hidden) * 1.7
    return model, model.fc2(hidden).float().mean(), ("float16 overflow in addition", "fc1", "fc1")


@forward
def nan_sample() -> Case:
    model = mlp(8, 6, 1)
    return model, F.mse_loss(model(bad_at(X, 3)), Y), (INPUT, "fc1", "fc2")


@forward
def nan_feature() -> Case:
    model = mlp(8, 6, 1)
    return model, F.mse_loss(model(bad_at(X, (slice(None), 5))), Y), (INPUT, "fc1", "fc2")


@forward
def inf_pixel() -> Case:
    torch.manual_seed(0)
    model = nn.ModuleDict({"conv": nn.Conv2d(3, 4, 3), "norm": nn.BatchNorm2d(4), "head": nn.Linear(144, 4)})
    hidden = model.norm(model.conv(bad_at(data(16, 3, 8, 8), (2, 1, 4, 4), INF))).relu()
    return model, F.cross_entropy(model.head(hidden.flatten(1)), LABELS), (INPUT, "conv", "norm")


@forward
def nan_target() -> Case:
    model = mlp(8, 6, 1)
    return model, F.mse_loss(model(X), bad_at(Y, 4)), (INPUT, "fc2", "")


@forward
def nan_target_by_hand() -> Case:
    model = mlp(8, 6, 1)
    return model, (model(X) - bad_at(Y, 4)).abs().mean(), (INPUT, "fc2", "")


@forward
def nan_probability_target() -> Case:
    model = mlp(8, 6, 1)
    return model, F.binary_cross_entropy_with_logits(model(X), bad_at((Y > 0).float(), 4)), (INPUT, "fc2", "")


@forward
def nan_sample_weight() -> Case:
    model = mlp(8, 6, 1)
    return model, (bad_at(torch.ones(16, 1), 2) * (model(X) - Y) ** 2).mean(), (INPUT, "fc2", "")


@forward
def too_large_steps() -> Case:
    model = mlp(8, 6, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e20)
    loss = F.mse_loss(model(X), Y)
    while loss.isfinite():
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss = F.mse_loss(model(X), Y)
    return model, loss, ("float32 overflow in matrix product", "fc2", "")


def _attention() -> tuple[nn.Module, Tensor, Tensor]:
    torch.manual_seed(0)
    model = nn.ModuleDict({name: nn.Linear(8, 8) for name in ("query", "key", "value", "out")})
    words = data(2, 5, 8)
    scores = model.query(words) @ model.key(words).transpose(1, 2) / 8**0.5
    return model, scores, model.value(words)


@forward
def fully_masked_row() -> Case:
    model, scores, values = _attention()
    mask = bad_at(torch.zeros(2, 5, 5), (1, 2), 1.0).bool()
    mixed = scores.masked_fill(mask, -INF).softmax(-1) @ values
    return model, model.out(mixed).mean(), ("softmax over a row with nothing but -inf", "key", "out")


@forward
def fully_masked_row_by_adding() -> Case:
    model, scores, values = _attention()
    mixed = (scores + bad_at(torch.zeros(2, 5, 5), (1, 2), -INF)).softmax(-1) @ values
    return model, model.out(mixed).mean(), ("softmax over a row with nothing but -inf", "key", "out")


@forward
def masked_target_class() -> Case:
    model = mlp(8, 6, 4)
    scores = model(X).masked_fill(torch.arange(4) == 2, -INF)
    wanted = ("negative log likelihood of a class that is masked with -inf", "fc2", "")
    return model, F.cross_entropy(scores, LABELS), wanted


@forward
def sum_of_masked_scores() -> Case:
    model = mlp(8, 6, 4)
    scores = model(X).masked_fill(torch.arange(4) == 2, -INF)
    loss = scores.logsumexp(1).sum() + scores.t().sum(1).square().mean()
    return model, loss, ("-inf of a mask in sum", "fc2", "")


@forward
def every_score_masked() -> Case:
    model = mlp(8, 6, 4)
    scores = model(X).masked_fill(torch.arange(16)[:, None] == 3, -INF)
    wanted = ("logsumexp over a row with nothing but -inf", "fc2", "")
    return model, scores.logsumexp(1).mean(), wanted


@forward
def multihead_attention() -> Case:
    torch.manual_seed(0)
    model = nn.ModuleDict({"mix": nn.MultiheadAttention(8, 2, batch_first=True), "out": nn.Linear(8, 4)})
    words, padding = data(2, 5, 8), torch.tensor([[False] * 5, [True] * 5])
    mixed, _ = model.mix(words, words, words, key_padding_mask=padding)
    wanted = ("softmax over a row with nothing but -inf", "mix", "mix.out_proj")
    return model, model.out(mixed).mean(), wanted


@forward
def transformer() -> Case:
    torch.manual_seed(0)
    block = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model = nn.ModuleDict({"words": nn.Embedding(10, 8), "blocks": nn.TransformerEncoder(block, 2)})
    hidden = model.blocks(model.words(torch.arange(20).view(4, 5) % 10))
    return model, hidden.sqrt().mean(), ("sqrt of a negative number", "blocks.layers.1.norm2", "")


@forward
def layer_norm_without_eps() -> Case:
    model = nn.ModuleDict({"fc1": nn.Linear(8, 6), "norm": nn.LayerNorm(6, eps=0.0), "fc2": nn.Linear(6, 1)})
    hidden = model.norm(model.fc1(X) * 0)
    return model, model.fc2(hidden).mean(), ("layer norm of values without any variance", "fc1", "fc2")


@forward
def root_of_negative_by_power() -> Case:
    model = mlp(8, 6, 1)
    return model, model(X).pow(0.5).mean(), ("broken power of a negative number", "fc2", "")


@forward
def learned_power() -> Case:
    model = mlp(8, 6, 1)
    model.register_parameter("power", nn.Parameter(torch.tensor(0.5)))
    wanted = ("broken power of a negative number", "power", "fc2")
    return model, model.fc2(model.fc1(X).pow(model.power)).mean(), wanted


@forward
def acos_beyond_one() -> Case:
    model = mlp(8, 6, 1)
    return model, torch.acos(model(X) * 3).mean(), ("acos of a number that is not from -1 to 1", "fc2", "")


@forward
def inverse_root_of_zero() -> Case:
    model = mlp(8, 6, 1)
    return model, model(X).relu().rsqrt().mean(), ("1 / sqrt of 0", "fc2", "")


@forward
def mean_of_empty_selection() -> Case:
    model = mlp(8, 6, 1)
    return model, ((model(X) - Y) ** 2)[Y > 100].mean(), ("mean of nothing", "fc2", "")


@forward
def every_target_ignored() -> Case:
    model = mlp(8, 6, 4)
    return model, F.cross_entropy(model(X), torch.full((16,), -100)), ("mean loss over no targets", "fc2", "")


@forward
def deviation_of_one_sample() -> Case:
    model = mlp(8, 6, 1)
    hidden = model.fc1(X[:1])
    with warnings.catch_warnings(action="ignore"):
        spread = hidden.std(0)
    hidden = (hidden - hidden.mean(0)) / (spread + 1e-5)
    return model, model.fc2(hidden).mean(), ("std of a single value", "fc1", "fc2")


@forward
def lstm() -> Case:
    torch.manual_seed(0)
    model = nn.ModuleDict({"rnn": nn.LSTM(8, 6, batch_first=True), "head": nn.Linear(6, 1)})
    result, _ = model.rnn(data(4, 7, 8))
    return model, model.head(result[:, -1].log()).mean(), ("log of a negative number", "rnn", "head")


@forward
def lstm_on_nan() -> Case:
    torch.manual_seed(0)
    model = nn.ModuleDict({"rnn": nn.LSTM(8, 6, batch_first=True), "head": nn.Linear(6, 1)})
    result, _ = model.rnn(bad_at(data(4, 7, 8), (1, 3, 2)))
    return model, model.head(result[:, -1]).mean(), (INPUT, "rnn", "head")


@forward
def convolutions() -> Case:
    torch.manual_seed(0)
    model = nn.ModuleDict({"conv1": nn.Conv2d(1, 4, 3), "conv2": nn.Conv2d(4, 4, 3), "head": nn.Linear(4, 4)})
    hidden = model.conv2(model.conv1(data(16, 1, 8, 8)).relu()).relu()
    hidden = hidden / (hidden.amax((2, 3), keepdim=True) * 0)
    loss = F.cross_entropy(model.head(hidden.mean((2, 3))), LABELS)
    return model, loss, ("division of 0 by 0", "conv2", "head")


class ZeroOverZero(torch.autograd.Function):
    @staticmethod
    def forward(ctx, given):  # type: ignore[no-untyped-def]
        ctx.save_for_backward(given)
        return given / 0 * 0

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[no-untyped-def]  # noqa: ARG004
        return gradient


@forward
def custom_function() -> Case:
    model = mlp(8, 6, 1)
    hidden = ZeroOverZero.apply(model.fc1(X))
    return model, model.fc2(hidden).mean(), ("NaN from custom function ZeroOverZero", "fc1", "fc2")


@forward
def zero_times_inf() -> Case:
    model = mlp(8, 6, 1)
    result = model(X).relu()
    return model, (result * bad_at(torch.ones(16, 1), result == 0, INF)).sum(), ("0 * inf", "fc2", "")


@forward
def inf_minus_inf() -> Case:
    model = mlp(8, 6, 1)
    large = (model(X) * 1e4).exp()
    return model, (large - large.detach()).mean(), ("exp overflow", "fc2", "")


@forward
def normal_distribution_without_width() -> Case:
    model = mlp(8, 6, 2)
    mean, width = model(X).chunk(2, dim=1)
    normal = torch.distributions.Normal(mean, width * 0, validate_args=False)
    return model, -normal.log_prob(Y).mean(), ("log of 0", "fc2", "")


@forward
def ctc_target_too_long() -> Case:
    model = mlp(8, 5)
    sizes = torch.tensor([4, 4]), torch.tensor([6, 6])
    loss = F.ctc_loss(model.fc1(data(4, 2, 8)).log_softmax(-1), torch.ones(2, 6, dtype=torch.long), *sizes)
    return model, loss, ("ctc loss of a target that is longer than its input", "fc1", "")


@forward
def hidden_by_where() -> Case:
    """The log of a negative number never reaches the loss; the division does."""
    model = mlp(8, 6, 6, 1)
    hidden = model.fc1(X)
    hidden = model.fc2(torch.where(hidden > 0, hidden.log(), hidden))
    return model, model.fc3(hidden / (hidden * 0)).mean(), ("division by 0", "fc2", "fc3")
