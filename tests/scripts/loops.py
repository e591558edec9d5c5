"""Trainings in which no torch optimizer steps, one for each way to write them: `loops.py WAY UPDATES`.

Prints a line for each update, and what became of the weights.
"""

import sys

import torch
from fingerprint import result
from torch import nn


def data(size=16):
    x = torch.randn(size, 4)
    return x, x[:, :1] * x[:, 1:2]


def net():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))


def loss_of(model, size=16):
    x, y = data(size)
    return nn.functional.mse_loss(model(x), y)


def said(update, loss):
    print("update", update + 1, "loss", float(loss.detach() if isinstance(loss, torch.Tensor) else loss))


def no_grad(updates):
    model = net()
    for update in range(updates):
        loss = loss_of(model)
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.05 * p.grad
                p.grad = None
        said(update, loss)
    return model.parameters()


def data_add(updates):
    w, b = torch.randn(4, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
    for update in range(updates):
        x, y = data()
        loss = (x @ w + b - y).square().mean()
        loss.backward()
        for p in (w, b):
            p.data.add_(p.grad, alpha=-0.05)
            p.grad.data.zero_()
        said(update, loss)
    return [w, b]


def data_replaced(updates):
    model = net()
    for update in range(updates):
        loss = loss_of(model)
        loss.backward()
        for p in model.parameters():
            p.data = p.data - 0.05 * p.grad
        model.zero_grad()
        said(update, loss)
    return model.parameters()


def autograd_grad(updates):
    model = net()
    parameters = list(model.parameters())
    for update in range(updates):
        loss = loss_of(model)
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for p, g in zip(parameters, gradients, strict=True):
                p -= 0.05 * g
        said(update, loss)
    return parameters


def new_tensors(updates):
    w = torch.randn(4, 1, requires_grad=True)
    for update in range(updates):
        x, y = data()
        loss = (x @ w - y).square().mean()
        (gradient,) = torch.autograd.grad(loss, w)
        w = (w - 0.05 * gradient).detach().requires_grad_()
        said(update, loss)
    return [w]


class Lion:
    """An optimizer of no torch class."""

    def __init__(self, parameters, lr=1e-3):
        self.parameters = list(parameters)
        self.momenta = [torch.zeros_like(p) for p in self.parameters]
        self.lr = lr

    @torch.no_grad()
    def step(self):
        for p, m in zip(self.parameters, self.momenta, strict=True):
            p.add_(torch.sign(0.9 * m + 0.1 * p.grad), alpha=-self.lr)
            m.mul_(0.99).add_(p.grad, alpha=0.01)

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None


def own_class(updates):
    model = net()
    optimizer = Lion(model.parameters())
    for update in range(updates):
        optimizer.zero_grad()
        loss = loss_of(model)
        loss.backward()
        optimizer.step()
        said(update, loss)
    return model.parameters()


def accumulated(updates):
    """Three backward calls make an update, by a class of its own."""
    model = net()
    optimizer = Lion(model.parameters())
    for update in range(updates):
        optimizer.zero_grad()
        for _ in range(3):
            loss = loss_of(model) / 3
            loss.backward()
        optimizer.step()
        said(update, loss)
    return model.parameters()


def grads_accumulated(updates):
    model = net()
    parameters = list(model.parameters())
    for update in range(updates):
        total = None
        for _ in range(4):
            loss = loss_of(model)
            found = torch.autograd.grad(loss, parameters)
            total = found if total is None else [a + b for a, b in zip(total, found, strict=True)]
        for p, g in zip(parameters, total, strict=True):
            p.data -= 0.01 * g
        said(update, loss)
    return parameters


def in_backward(updates):
    """The update is a hook of the parameters: when backward ends it has been made."""
    model = net()

    def update_now(p):
        with torch.no_grad():
            p -= 0.05 * p.grad
        p.grad = None

    for p in model.parameters():
        p.register_post_accumulate_grad_hook(update_now)
    for update in range(updates):
        loss = loss_of(model)
        loss.backward()
        said(update, loss)
    return model.parameters()


def gan(updates):
    """Two backward calls and two updates in each round."""
    maker, judge = nn.Linear(3, 4), net()
    for update in range(updates):
        real, _ = data()
        fake = maker(torch.randn(16, 3))
        loss = judge(fake.detach()).mean() - judge(real).mean()
        loss.backward()
        with torch.no_grad():
            for p in judge.parameters():
                p -= 0.01 * p.grad
        judge.zero_grad()
        (-judge(fake).mean()).backward()
        with torch.no_grad():
            for p in maker.parameters():
                p -= 0.01 * p.grad
        judge.zero_grad()
        maker.zero_grad()
        said(update, loss)
    return [*maker.parameters(), *judge.parameters()]


def evaluated(updates):
    """Every third round ends with gradients of an input that nobody learns from."""
    model = net()
    for update in range(updates):
        loss = loss_of(model)
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.05 * p.grad
        model.zero_grad()
        said(update, loss)
        if update % 3 == 2:
            x, y = data()
            x.requires_grad_()
            nn.functional.mse_loss(model(x), y).backward()
            print("saliency", float(x.grad.norm()))
            model.zero_grad()
            with torch.no_grad():
                print("validation", float(loss_of(model, 64)))
    return model.parameters()


def image(updates):
    """What is learned is an input; the model stays as it is, and its gradients pile up."""
    model = net()
    x = torch.randn(1, 4, requires_grad=True)
    for update in range(updates):
        loss = model(x).square().sum()
        loss.backward()
        x.data -= 0.05 * x.grad
        x.grad = None
        said(update, loss)
    return [x]


def unused_optimizer(updates):
    """A torch optimizer is made, and never steps."""
    model = net()
    torch.optim.SGD(model.parameters(), lr=0.05)
    return _plain(model, updates)


def _plain(model, updates):
    for update in range(updates):
        loss = loss_of(model)
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.05 * p.grad
        model.zero_grad()
        said(update, loss)
    return model.parameters()


def keras(updates):
    import os

    os.environ["KERAS_BACKEND"] = "torch"
    import keras

    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    x, y = data(16 * updates)
    after = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: said(batch, logs["loss"]))
    model.fit(x.numpy(), y.numpy(), batch_size=16, epochs=1, verbose=0, callbacks=[after])
    return [variable.value for variable in model.trainable_variables]


def in_backward_optimizer(updates):
    """Torch optimizers, one for each parameter, that step while backward runs."""
    model = net()
    optimizers = {p: torch.optim.SGD([p], lr=0.05) for p in model.parameters()}

    def update_now(p):
        optimizers[p].step()
        optimizers[p].zero_grad()

    for p in model.parameters():
        p.register_post_accumulate_grad_hook(update_now)
    for update in range(updates):
        loss = loss_of(model)
        loss.backward()
        said(update, loss)
    return model.parameters()


def caught(updates):
    """Whatever happens in a round, the next one comes; a torch optimizer steps."""
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for update in range(updates):
        try:
            optimizer.zero_grad()
            loss = loss_of(model)
            loss.backward()
            optimizer.step()
        except:  # noqa: E722
            print("caught", sys.exc_info()[0].__name__)
            continue
        said(update, loss)
    return model.parameters()


def caught_by_hand(updates):
    model = net()
    for update in range(updates):
        try:
            loss = loss_of(model)
            loss.backward()
        except BaseException as error:
            print("caught", type(error).__name__)
            continue
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.05 * p.grad
                p.grad = None
        said(update, loss)
    return model.parameters()


def caught_once(updates):
    """The training is left by whatever comes, and the program ends by itself."""
    try:
        return no_grad(updates)
    except SystemExit:
        print("evaluation")
        return []


def train(way, updates):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    weights = globals()[way](updates)
    result([one.detach() for one in weights])


if __name__ == "__main__":
    train(sys.argv[1], int(sys.argv[2]))
