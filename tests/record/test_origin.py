"""Where the first NaN came from: is the named operation the right one, and is the training left alone?"""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from tests.record.nan_backward import BACKWARD
from tests.record.nan_forward import FORWARD, INPUT
from tests.record.nan_models import NAN, X, Y, bad_at, data, grown, mlp
from tests.record.nan_programs import BACKWARD_RISKS, FORWARD_RISKS, Program, Watcher, watch_backward
from traindx.observe.torch import graph as graphs
from traindx.observe.torch.nonfinite_origin import NonfiniteOrigin, backward_origin, forward_origin
from traindx.observe.torch.saved import Saved


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def layer_of(model: nn.Module) -> Callable[[Tensor], str]:
    names = {id(one): name.rpartition(".")[0] or name for name, one in model.named_parameters()}
    return lambda parameter: names[id(parameter)]


def found_in(origin: NonfiniteOrigin, wanted: tuple[str, str, str]) -> bool:
    words, before, after = wanted
    right = origin.where == "input" if words == INPUT else origin.operation.startswith(words)
    return right and before in (origin.layer, origin.layer_before) and origin.layer_after == after


@pytest.mark.parametrize("name", FORWARD)
def test_forward_case(name: str) -> None:
    model, loss, wanted = FORWARD[name]()
    assert not loss.isfinite()
    origin = forward_origin(loss, layer_of(model), model.parameters())
    assert found_in(origin, wanted), origin
    assert "\n" not in origin.text
    json.dumps(origin.data())


@pytest.mark.parametrize("name", BACKWARD)
def test_backward_case(name: str) -> None:
    model, loss, wanted = BACKWARD[name]()
    assert loss.isfinite()
    loss.backward()
    assert not all(one.grad.isfinite().all() for one in model.parameters())
    origin = backward_origin(loss.grad_fn, model.parameters(), layer_of(model), loss=loss.item())
    assert origin.where == "backward"
    assert found_in(origin, wanted), origin
    json.dumps(origin.data())


def test_random_programs_forward() -> None:
    """Nearly always it is the operation that a look at every single result finds."""
    count: Counter[bool] = Counter()
    for seed in range(160):
        model = Program(seed, FORWARD_RISKS)
        with Watcher() as watcher:
            loss = model()
        if not loss.isfinite():
            origin = forward_origin(loss, layer_of(model))
            named = origin.node.split("Backward")[0].lower()
            # What a choice threw away is not to blame, so a later one may be.
            count[named in watcher.guilty] += 1
    assert count[True] > 40
    assert count[False] <= 0.02 * count[True], count


def test_random_programs_backward() -> None:
    """The values are gone by then, so that where several are possible it is a guess."""
    count: Counter[bool] = Counter()
    for seed in range(160):
        model = Program(seed, BACKWARD_RISKS)
        loss = model()
        if loss.isfinite():
            guilty = watch_backward(loss)
            if guilty and not all(one.grad.isfinite().all() for one in model.parameters()):
                origin = backward_origin(loss.grad_fn, model.parameters(), layer_of(model), loss=loss.item())
                count[origin.node in guilty] += 1
    assert count[True] > 25
    assert count[False] <= 0.15 * count[True], count


def test_bad_weights_come_first() -> None:
    model = mlp(8, 6, 6, 1)
    with torch.no_grad():
        model.fc2.bias[1] = NAN
    origin = forward_origin(model(bad_at(X, 2)).mean(), layer_of(model))
    assert (origin.where, origin.layer) == ("weights", "fc2")
    assert origin.text == (
        "the weights of 1 of 3 layers (fc2) held NaN before the forward pass: the step before wrote them"
    )
    assert "made so" in forward_origin(model(X).mean(), layer_of(model), first_step=True).text


def test_weights_that_the_graph_does_not_show() -> None:
    model = mlp(8, 6, 6, 1)
    with torch.no_grad():
        model.fc2.bias[1] = NAN
    hidden = model.fc1(X)
    loss = model.fc3(checkpoint(model.fc2, hidden, use_reentrant=True)).mean()
    assert forward_origin(loss, layer_of(model)).where == "forward"
    assert forward_origin(loss, layer_of(model), model.parameters()).layer == "fc2"


def test_bad_weights_elsewhere_are_not_blamed() -> None:
    """Another model of the same training is bad, but this loss has a reason of its own."""
    model, other = mlp(8, 6, 1), nn.Parameter(torch.tensor(NAN))
    parameters = [*model.parameters(), other]
    name = layer_of(nn.ModuleDict({"net": model, "other": nn.ParameterDict({"w": other})}))
    assert forward_origin(model(X).log().mean(), name, parameters).where == "loss"
    assert forward_origin(model(X * other.detach()).mean(), name, parameters).layer == "other"


def test_input_that_wants_a_gradient_is_no_weight() -> None:
    model = mlp(8, 6, 1)
    origin = forward_origin(model(bad_at(X, 3).requires_grad_()).mean(), layer_of(model))
    assert (origin.where, origin.layer_after) == ("input", "fc1")


def test_plain_tensors_can_be_trained() -> None:
    weight = torch.zeros(8, 1, requires_grad=True)
    loss = (X @ weight).log().mean()
    origin = forward_origin(loss, lambda _: "w", [weight])
    assert (origin.operation, origin.layer_before) == ("log of 0", "w")


def test_numbers_of_the_input() -> None:
    model = mlp(8, 6, 1)
    origin = forward_origin(model(bad_at(X, (slice(2, 5), 6))).mean(), layer_of(model))
    assert origin.numbers["nonfinite"] == 3
    assert origin.numbers["count"] == 128
    assert (origin.numbers["rows"], origin.numbers["features"]) == ([2, 3, 4], [6])
    assert math.isclose(origin.numbers["max"], X[torch.isfinite(bad_at(X, (slice(2, 5), 6)))].max().item())
    assert "in 3 of 16 rows (first: 2), in 1 of 8 features (first: 6)" in origin.text


def test_numbers_of_an_overflow_tell_of_the_weights() -> None:
    model = grown(mlp(8, 6, 1), fc2=1e38)
    origin = forward_origin((model.fc2(model.fc1(X * 100)) * 1.0).mean(), layer_of(model))
    assert origin.numbers["weights_max"] == model.fc2.weight.abs().max().item()
    assert "weights up to" in origin.text


def test_nothing_changes_and_backward_still_works() -> None:
    def trained(look: bool) -> tuple[list[Tensor], Tensor]:
        model = grown(mlp(8, 6, 1), fc2=2000)
        torch.manual_seed(5)
        loss = -nn.functional.dropout(model(X), 0.3).softmax(0).log().mean()
        if look:
            before = [one.clone() for one in model.parameters()]
            version = [one._version for one in model.parameters()]
            assert forward_origin(loss, layer_of(model), model.parameters()).operation == "log of 0"
            assert all(map(torch.equal, before, model.parameters()))
            assert version == [one._version for one in model.parameters()]
            assert all(one.grad is None for one in model.parameters())
        loss.backward()
        if look:
            backward_origin(loss.grad_fn, model.parameters(), layer_of(model))
        return [one.grad for one in model.parameters()], torch.get_rng_state()

    (plain, plain_state), (looked, looked_state) = trained(False), trained(True)
    assert torch.equal(plain_state, looked_state)
    for one, other in zip(plain, looked, strict=True):
        assert torch.equal(one.nan_to_num(7.0), other.nan_to_num(7.0))


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoints_are_not_run_again(reentrant: bool) -> None:
    model, runs = mlp(8, 6, 6, 1), []

    def part(hidden: Tensor) -> Tensor:
        runs.append(1)
        return (model.fc2(hidden) * 0).log() ** model.fc2.bias

    loss = model.fc3(checkpoint(part, model.fc1(X), use_reentrant=reentrant)).mean()
    origin = forward_origin(loss, layer_of(model), model.parameters())
    assert len(runs) == 1
    assert origin.where == "forward"
    assert origin.layer_after == "fc3"
    assert origin.text.endswith("could not look closer: gradient checkpointing")
    loss.backward()
    assert len(runs) == 2
    backward_origin(loss.grad_fn, model.parameters(), layer_of(model))
    assert len(runs) == 2


@pytest.mark.parametrize("reentrant", [True, False])
def test_what_stands_outside_of_checkpoints_is_seen(reentrant: bool) -> None:
    model = mlp(8, 6, 6, 1)
    hidden = checkpoint(lambda given: model.fc2(given).relu(), model.fc1(X), use_reentrant=reentrant)
    assert forward_origin(model.fc3(hidden.log()).mean(), layer_of(model)).operation == "log of 0"


def test_living_checkpoints_are_known_without_asking_values() -> None:
    """What versions of PyTorch go by that do not tell whether a saved value has a hook."""
    model = mlp(8, 6, 1)
    assert not Saved()._checkpoints_alive()
    loss = checkpoint(model, X, use_reentrant=False).mean()
    assert Saved()._checkpoints_alive()
    loss.backward()


def test_packed_values_are_left_alone() -> None:
    model, asked = mlp(8, 6, 1), []

    def unpack(value: Tensor) -> Tensor:
        asked.append(1)
        return value

    with torch.autograd.graph.saved_tensors_hooks(lambda value: value, unpack):
        loss = (model(X) ** model.fc2.bias).log().mean()
    assert "packed away by hooks" in forward_origin(loss, layer_of(model)).text
    assert not asked


def test_freed_graph() -> None:
    model = mlp(8, 6, 1)
    loss = model(X).log().mean()
    loss.backward()
    origin = forward_origin(loss, layer_of(model))
    assert origin.text.endswith("could not look closer: saved values are already freed")


def test_loss_without_graph() -> None:
    assert forward_origin(torch.tensor(NAN), lambda _: "w").where == "unknown"


def test_deep_graph_within_the_limit() -> None:
    layer = nn.Linear(4, 4)
    hidden = layer(data(2, 4)).log()
    for _ in range(2000):
        hidden = layer(hidden) + hidden
    began = time.monotonic()
    origin = forward_origin(hidden.mean(), lambda _: "fc", seconds=30)
    assert origin.operation == "log of a negative number"
    assert time.monotonic() - began < 10


def test_too_deep_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "LIMIT", 500)
    layer = nn.Linear(4, 4)
    hidden = layer(data(2, 4)).log()
    for _ in range(400):
        hidden = layer(hidden) + hidden
    origin = forward_origin(hidden.mean(), lambda _: "fc")
    assert origin.text == "could not look: it came from further back than 500 operations"


def test_time_limit() -> None:
    layer = nn.Linear(300, 300)
    hidden = bad_at(data(2000, 300), (0, 0))
    for _ in range(30):
        hidden = layer(hidden).tanh()
    began = time.monotonic()
    origin = forward_origin(hidden.mean(), lambda _: "fc", seconds=0.0)
    assert origin.where == "unknown"
    assert time.monotonic() - began < 1


def test_compiled_part_is_said_to_be_closed() -> None:
    model = mlp(8, 6, 1)
    part = torch.compile(lambda given: model(given).log(), backend="aot_eager")
    assert forward_origin(part(X).mean(), layer_of(model)).text.endswith("torch.compile")
    origin = forward_origin((torch.compile(model, backend="aot_eager")(X) * 0).log().mean(), layer_of(model))
    assert (origin.operation, origin.layer_before) == ("log of 0", "fc2")


def test_scaled_gradients() -> None:
    model = mlp(8, 6, 6, 1).half()
    loss = (model((X * 10).half()).float() * 10 * 65536).sum()
    loss.backward()
    origin = backward_origin(loss.grad_fn, model.parameters(), layer_of(model), loss_scale=65536.0)
    assert origin.operation == "float16 overflow of scaled gradients"
    assert "at loss scale 65536" in origin.text
    low = backward_origin(loss.grad_fn, model.parameters(), layer_of(model), loss_scale=1.0)
    assert low.operation != origin.operation


def test_clipped_gradients_say_nothing_about_layers() -> None:
    model, loss, _ = BACKWARD["root_between_layers"]()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    assert all(one.grad.isnan().all() for one in model.parameters())
    origin = backward_origin(loss.grad_fn, model.parameters(), layer_of(model), clipped=True)
    assert (origin.operation, origin.layer_before) == ("sqrt at 0", "fc2")
    assert origin.text.endswith("; clipping spread NaN to all gradients")
    loss = (model.fc1(X) * model.fc1(X)).mean()
    origin = backward_origin(loss.grad_fn, model.parameters(), layer_of(model), clipped=True)
    assert origin.text == "somewhere in the backward pass; clipping spread NaN to all gradients"


def test_finite_gradients_are_no_origin() -> None:
    model = mlp(8, 6, 1)
    loss = nn.functional.mse_loss(model(X), Y)
    loss.backward()
    assert backward_origin(loss.grad_fn, model.parameters(), layer_of(model)).where == "unknown"


def test_bad_gradients_inside_a_checkpoint() -> None:
    model = mlp(8, 6, 6, 1)

    def part(hidden: Tensor) -> Tensor:
        return nn.functional.dropout(model.fc2(hidden).abs(), 0.5).sqrt()

    torch.manual_seed(0)
    loss = model.fc3(checkpoint(part, model.fc1(X), use_reentrant=True)).mean()
    loss.backward()
    origin = backward_origin(loss.grad_fn, model.parameters(), layer_of(model))
    assert origin.text.startswith("the backward pass between layers fc1 and fc3; could not look closer")
