"""Small trainings by JAX, each with and without a recorder: `python jax_programs.py OUT [watch]`.

What each ends with, and how often its code was traced, is written to OUT/results.json; a recording of each is
in OUT/<name>.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from flax.training.train_state import TrainState

Program = Callable[[], Any]
OUT = Path(sys.argv[1])
PROGRAMS: dict[str, Program] = {}
STEPS = 16
traces: list[str] = []


def program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function


def batches(steps: int = STEPS) -> Iterator[tuple[Any, Any]]:
    """Ten classes that can be told apart, in batches of another size at the end."""
    draw = np.random.default_rng(0)
    centres = draw.normal(size=(10, 16))
    for step in range(steps):
        y = draw.integers(0, 10, 20 if step == steps - 1 else 32)
        yield (centres[y] + 0.5 * draw.normal(size=(len(y), 16))).astype("float32"), y.astype("int32")


def weights() -> list[tuple[Any, Any]]:
    keys = jax.random.split(jax.random.PRNGKey(0), 2)
    return [
        (jax.random.normal(key, shape) * 0.2, jnp.zeros(shape[1]))
        for key, shape in zip(keys, ((16, 24), (24, 10)), strict=True)
    ]


def predict(params: Any, x: Any) -> Any:
    (w1, b1), (w2, b2) = params
    return jax.nn.relu(x @ w1 + b1) @ w2 + b2


def loss_of(params: Any, x: Any, y: Any) -> Any:
    traces.append("loss")
    return optax.softmax_cross_entropy_with_integer_labels(predict(params, x), y).mean()


@program
def linen() -> Any:
    class Net(nn.Module):
        @nn.compact
        def __call__(self, x: Any, train: bool) -> Any:
            x = nn.BatchNorm(use_running_average=not train)(nn.Dense(24)(x))
            return nn.Dense(10)(nn.Dropout(0.1, deterministic=not train)(nn.relu(x)))

    net = Net()
    variables = net.init(jax.random.PRNGKey(0), jnp.ones((1, 16)), False)
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(3e-3, STEPS)))
    state = TrainState.create(apply_fn=net.apply, params=variables["params"], tx=tx)

    @partial(jax.jit, donate_argnums=0)
    def step(state: Any, statistics: Any, x: Any, y: Any, key: Any) -> Any:
        def loss_fn(params: Any) -> Any:
            given = {"params": params, "batch_stats": statistics}
            rngs = {"dropout": jax.random.fold_in(key, state.step)}
            logits, new = net.apply(given, x, True, mutable=["batch_stats"], rngs=rngs)
            loss = optax.softmax_cross_entropy(logits, jax.nn.one_hot(y, 10)).mean()
            return loss, (logits, new["batch_stats"])

        (loss, (logits, new)), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
        return state.apply_gradients(grads=grads), new, {"loss": loss, "logits": logits}

    statistics, key = variables["batch_stats"], jax.random.key(1)
    for x, y in batches():
        state, statistics, metrics = step(state, statistics, x, y, key)
    return state.params, metrics["loss"]


@program
def graph_nodes() -> Any:
    class Net(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.first = nnx.Linear(16, 24, rngs=rngs)
            self.drop = nnx.Dropout(0.1, rngs=rngs)
            self.last = nnx.Linear(24, 10, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            return self.last(self.drop(nnx.relu(self.first(x))))

    def loss_fn(model: Any, x: Any, y: Any) -> Any:
        return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()

    @nnx.jit
    def step(model: Any, optimizer: Any, x: Any, y: Any) -> Any:
        loss, grads = nnx.value_and_grad(loss_fn)(model, x, y)
        optimizer.update(model, grads)
        return loss

    model = Net(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
    for x, y in batches():
        loss = step(model, optimizer, x, y)
    return nnx.state(model, nnx.Param), loss


@program
def equinox() -> Any:
    model = eqx.nn.MLP(16, 10, 24, 1, key=jax.random.PRNGKey(0))
    tx = optax.sgd(0.1, momentum=0.9)
    state = tx.init(eqx.filter(model, eqx.is_array))

    @eqx.filter_value_and_grad
    def loss_fn(model: Any, x: Any, y: Any) -> Any:
        return optax.softmax_cross_entropy_with_integer_labels(jax.vmap(model)(x), y).mean()

    @eqx.filter_jit
    def step(model: Any, state: Any, x: Any, y: Any) -> Any:
        loss, grads = loss_fn(model, x, y)
        updates, state = tx.update(grads, state, eqx.filter(model, eqx.is_array))
        return eqx.apply_updates(model, updates), state, loss

    for x, y in batches():
        model, state, loss = step(model, state, x, y)
    return eqx.filter(model, eqx.is_array), loss


@program
def by_hand() -> Any:
    @partial(jax.jit, donate_argnums=0)
    def step(params: Any, x: Any, y: Any) -> Any:
        loss, grads = jax.value_and_grad(loss_of)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.5 * g, params, grads), loss

    params = weights()
    for x, y in batches():
        params, loss = step(params, x, y)
    return params, loss


@program
def eager_updates() -> Any:
    gradient = jax.jit(jax.value_and_grad(loss_of))
    tx = optax.adam(1e-2)
    params = weights()
    state = tx.init(params)
    for x, y in batches(8):
        loss, grads = gradient(params, x, y)
        updates, state = tx.update(grads, state)
        params = optax.apply_updates(params, updates)
    return params, loss


@program
def nothing_compiled() -> Any:
    params = weights()
    for x, y in batches(4):
        grads = jax.grad(loss_of)(params, x, y)
        params = jax.tree.map(lambda p, g: p - 0.5 * g, params, grads)
    return params, loss_of(params, x, y)


@program
def a_loop_inside() -> Any:
    tx = optax.adam(1e-2)

    def step(carry: Any, batch: Any) -> Any:
        params, state = carry
        loss, grads = jax.value_and_grad(loss_of)(params, *batch)
        updates, state = tx.update(grads, state)
        return (optax.apply_updates(params, updates), state), loss

    @jax.jit
    def epoch(params: Any, state: Any, x: Any, y: Any) -> Any:
        (params, state), losses = jax.lax.scan(step, (params, state), (x, y))
        return params, state, losses

    listed = list(batches())[:-1]
    x, y = (jnp.stack(one) for one in zip(*listed, strict=True))
    params = weights()
    state = tx.init(params)
    for _ in range(3):
        params, state, losses = epoch(params, state, x, y)
    return params, losses


def with_a_copy(params: Any, copy: Any, state: Any, x: Any, y: Any, *, follows: bool) -> Any:
    """A step beside which an average of the weights is kept; where it `follows`, that gives the targets."""
    target = predict(copy, x) if follows else jax.nn.one_hot(y, 10)
    loss, grads = jax.value_and_grad(lambda p: ((predict(p, x) - target) ** 2).mean())(params)
    updates, state = optax.adam(1e-2).update(grads, state)
    params = optax.apply_updates(params, updates)
    return params, jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, copy, params), state, loss


@program
def follows_a_copy() -> Any:
    step = jax.jit(partial(with_a_copy, follows=True))
    params, copy = weights(), weights()
    state = optax.adam(1e-2).init(params)
    for x, y in batches():
        params, copy, state, loss = step(params, copy, state, x, y)
    return params, loss


@program
def averages_beside() -> Any:
    step = jax.jit(partial(with_a_copy, follows=False))
    params, copy = weights(), weights()
    state = optax.adam(1e-2).init(params)
    for x, y in batches():
        params, copy, state, loss = step(params, copy, state, x, y)
    return params, loss


@program
def never_applied() -> Any:
    tx = optax.adam(1e-2)

    @jax.jit
    def step(params: Any, state: Any, x: Any, y: Any) -> Any:
        loss, grads = jax.value_and_grad(loss_of)(params, x, y)
        updates, state = tx.update(grads, state)
        optax.apply_updates(params, updates)
        return state, loss

    params = weights()
    state = tx.init(params)
    for x, y in batches():
        state, loss = step(params, state, x, y)
    return params, loss


@program
def other_uses() -> Any:
    """What is not a training keeps working: methods, static arguments, transformed functions."""

    class Scaler:
        factor = 3.0

        @partial(jax.jit, static_argnums=(0, 2))
        def scale(self, x: Any, power: int) -> Any:
            return (x * self.factor) ** power

    @jax.jit
    def square(x: Any) -> Any:
        return (x**2).sum()

    again = [jax.jit(square)(jnp.arange(3.0)) for _ in range(3)]
    x = jnp.arange(4.0)
    return [
        Scaler().scale(x, 2),
        jax.vmap(square)(x[:, None]),
        jax.grad(square)(x),
        square.lower(x).compile()(x),
        again,
    ]


def digest(result: Any) -> str:
    bits = hashlib.sha256()
    for leaf in jax.tree.leaves(result):
        bits.update(np.asarray(leaf).tobytes())
    return bits.hexdigest()


def main() -> None:
    results = {}
    for name, train in PROGRAMS.items():
        traces.clear()
        if "watch" in sys.argv:
            import traindx

            with traindx.watch(out=OUT / name, name=name):
                result = train()
        else:
            result = train()
        results[name] = {"bits": digest(result), "traced": len(traces)}
    (OUT / "results.json").write_text(json.dumps(results))


main()
