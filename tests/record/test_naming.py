"""Names of modules, parameters and variables, as the script would say them."""

from __future__ import annotations

import copy
import gc
import weakref

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations

from traindx.observe.torch.naming import Names, variable_name


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.zeros(3))
        self.body = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3)))
        self.tied = nn.Linear(3, 3)
        self.tied.weight = self.body[0].weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.tied(self.body(x + self.token))


def known(*models: nn.Module) -> Names:
    names = Names()
    names.refresh([torch.optim.SGD(model.parameters(), 0.1) for model in models])
    return names


def test_one_model_has_plain_names() -> None:
    net = Net()
    names = known(net)
    assert names.roots == [net]
    assert names.is_root(net)
    assert not names.is_root(net.body)
    assert names.module_name(net.body[1][0]) == "body.1.0"
    assert names.module_name(net) == "Net"
    assert names.layer_of(net.body[1][0].weight) == "body.1.0"
    assert names.layer_of(net.token) == "token"
    assert {names.parameter_name(one) for one in net.parameters()} == {
        name for name, _ in net.named_parameters()
    }


def test_a_shared_weight_belongs_to_the_first_that_holds_it() -> None:
    net = Net()
    names = known(net)
    assert names.layer_of(net.tied.weight) == "body.0"
    assert names.layer_of(net.tied.bias) == "tied"


def test_a_single_layer_is_a_model_too() -> None:
    layer = nn.Linear(2, 2)
    names = known(layer)
    assert names.layer_of(layer.weight) == names.layer_of(layer.bias) == "Linear"


# Where names of variables are looked up nothing may be asserted: pytest makes assertions call `locals`.
def gan() -> tuple[Names, Net, Net]:
    generator, critic = Net(), Net()
    return known(generator, critic), generator, critic


def test_several_models_are_told_apart_by_their_variables() -> None:
    names, generator, critic = gan()
    assert names.roots == [generator, critic]
    assert names.layer_of(generator.tied.bias) == "generator.tied"
    assert names.layer_of(critic.token) == "critic.token"
    assert names.module_name(critic) == "critic"


def test_models_without_a_variable_are_told_apart_by_class() -> None:
    names = Names()
    models = iter([Net(), Net()])
    held = {"a": [next(models)], "b": [next(models)]}
    names.refresh([torch.optim.SGD(one[0].parameters(), 0.1) for one in held.values()])
    found = {names.layer_of(one[0].tied.bias) for one in held.values()}
    assert found == {"Net.tied", "Net2.tied"}


def test_wrappers_leave_no_trace_in_names() -> None:
    net = Net()
    wrapped = torch.compile(nn.DataParallel(net), backend="eager")
    names = known(wrapped)
    assert names.roots == [net]
    assert names.is_root(wrapped)
    assert names.is_root(net)
    assert names.layer_of(net.tied.bias) == "tied"
    assert names.module_name(net.body[0]) == "body.0"


def test_parametrized_weights_count_to_their_layer() -> None:
    net = Net()
    parametrizations.weight_norm(net.tied)
    names = known(net)
    (first, *_) = net.tied.parametrizations["weight"].parameters()
    assert names.layer_of(first) == "tied"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_scripted_models_have_names_too() -> None:
    net = torch.jit.script(nn.Sequential(nn.Linear(3, 3), nn.ReLU()))
    names = known(net)
    assert names.roots == [net]
    assert [names.parameter_name(one) for one in net.parameters()] == ["0.weight", "0.bias"]
    assert names.layer_of(next(net.parameters())) == "0"


def test_the_outermost_module_is_the_model() -> None:
    class Step(nn.Module):
        def __init__(self, net: nn.Module) -> None:
            super().__init__()
            self.net = net
            self.loss = nn.MSELoss()

    step = Step(Net())
    names = known(step)
    assert names.roots == [step]
    assert names.layer_of(step.net.tied.bias) == "net.tied"


def test_copies_and_losses_are_no_models() -> None:
    net = Net()
    average = copy.deepcopy(net)
    names = known(net)
    assert names.roots == [net]
    assert names.module_name(average.tied) is None
    assert not names.saw(nn.CrossEntropyLoss())
    assert names.saw(average)
    assert names.roots == [net, average]
    assert names.module_name(average.tied) == "Net.tied"
    assert names.module_name(net.tied) == "tied"


def loose() -> tuple[Names, list[torch.Tensor], torch.Tensor]:
    held = [torch.randn(3, 4, requires_grad=True) for _ in range(2)]
    bias = torch.zeros((), requires_grad=True)
    names = Names()
    names.refresh([torch.optim.SGD([*held, bias], 0.1)])
    return names, held, bias


def test_loose_parameters() -> None:
    names, held, bias = loose()
    assert names.layer_of(held[1]) == "held[1]"
    assert names.layer_of(bias) == "bias"
    hidden = torch.optim.SGD([torch.zeros(2, 5, requires_grad=True)], 0.1)
    assert names.refresh([hidden])
    assert not names.refresh([hidden])
    assert names.layer_of(hidden.param_groups[0]["params"][0]) == "parameter3 (2x5)"


def test_what_is_gone_is_forgotten() -> None:
    names = Names()
    for _ in range(3):
        net = Net()
        names.refresh([torch.optim.SGD(net.parameters(), 0.1)])
        assert names.layer_of(net.tied.bias) == "tied"
        gone = weakref.ref(net)
        del net
        gc.collect()
        assert gone() is None
        assert names.roots == []


def test_a_name_once_given_stays() -> None:
    net = Net()
    names = known(net)
    version = names.version
    wrapped = nn.DataParallel(net)
    assert not names.saw(wrapped)
    assert names.version == version
    assert names.layer_of(net.tied.bias) == "tied"


def test_lazy_objects_are_not_woken() -> None:
    class Sleeper:
        woken = False

        @property
        def __class__(self) -> type:
            type(self).woken = True
            return nn.Linear

    sleepers = [Sleeper() for _ in range(3)]
    known(Net())
    assert variable_name(object()) is None
    assert not Sleeper.woken
    assert len(sleepers) == 3


def test_variables_of_callers_and_attributes() -> None:
    class Trainer:
        def __init__(self) -> None:
            self.opt_d = torch.optim.SGD(Net().parameters(), 0.1)

        def train(self) -> str | None:
            return variable_name(self.opt_d)

    def inner(module: object) -> str | None:
        return variable_name(module)

    def outer() -> str | None:
        opt_g = torch.optim.SGD(Net().parameters(), 0.1)
        return inner(opt_g)

    assert Trainer().train() == "opt_d"
    assert outer() == "opt_g"


def test_looking_for_a_name_keeps_nothing_alive() -> None:
    def train() -> bool:
        big = torch.zeros(10)
        gone = weakref.ref(big)
        variable_name(object())
        del big
        return gone() is None

    assert train()


def test_a_function_that_asked_for_its_locals_keeps_them_as_they_were() -> None:
    def train() -> dict[str, object]:
        lr = 0.1
        settings = locals()
        later = variable_name(object())
        del later
        later = "set"
        variable_name(object())
        return settings | {"lr": lr} if later else {}

    assert set(train()) == {"lr"}


def test_what_a_trainer_wraps_goes_by_the_name_of_the_wrapper() -> None:
    wrapped = pytest.importorskip("lightning.pytorch.core.optimizer").LightningOptimizer

    def train() -> str | None:
        opt_d = wrapped(torch.optim.SGD(Net().parameters(), 0.1))
        return variable_name(opt_d._optimizer)

    assert train() == "opt_d"
