"""Grain sorted into four grades by sixteen measurements, in plain JAX with optax."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(8)
grade = np.sort(rng.integers(0, 4, 2000))
centre = rng.normal(0, 1.1, (4, 16))
x = jnp.asarray(centre[grade] + rng.normal(0, 1.0, (2000, 16)), jnp.float32)
y = jnp.asarray(grade)
order, other = jax.random.split(jax.random.PRNGKey(3))
x = jax.random.permutation(order, x)
y = jax.random.permutation(other, y)

keys = jax.random.split(jax.random.PRNGKey(4), 2)
params = {
    "hidden": jax.random.normal(keys[0], (16, 40)) * 0.3,
    "shift": jnp.zeros(40),
    "out": jax.random.normal(keys[1], (40, 4)) * 0.15,
}
tx = optax.adam(3e-3)
state = tx.init(params)


def answers(params, x):
    return jax.nn.relu(x @ params["hidden"] + params["shift"]) @ params["out"]


def loss_of(params, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(answers(params, x), y).mean()


@jax.jit
def step(params, state, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    updates, state = tx.update(gradients, state)
    return optax.apply_updates(params, updates), state, loss


for epoch in range(10):
    for at in range(0, 1600, 50):
        params, state, loss = step(params, state, x[at : at + 50], y[at : at + 50])
    accuracy = float((answers(params, x[1600:]).argmax(-1) == y[1600:]).mean())
    held_out = float(loss_of(params, x[1600:], y[1600:]))
    print(f"epoch {epoch} loss {float(loss):.4f} val_loss {held_out:.4f} val_acc {accuracy:.3f}")
