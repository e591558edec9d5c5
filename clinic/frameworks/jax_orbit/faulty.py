"""The next position of a body on a disturbed orbit, by an Equinox network."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(2)
angle = rng.uniform(0, 2 * np.pi, 3000)
radius = rng.uniform(0.5, 1.5, 3000)
turn = 0.4 / radius
x = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).astype(np.float32)
y = np.stack([radius * np.cos(angle + turn), radius * np.sin(angle + turn)], 1).astype(np.float32)
model = eqx.nn.MLP(2, 2, 64, 2, key=jax.random.PRNGKey(1))
tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.5))
state = tx.init(eqx.filter(model, eqx.is_inexact_array))


def loss_of(model, x, y):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


@eqx.filter_jit
def step(model, state, x, y):
    loss, gradients = eqx.filter_value_and_grad(loss_of)(model, x, y)
    updates, state = tx.update(gradients, state)
    return eqx.apply_updates(model, updates), state, loss


for epoch in range(8):
    order = rng.permutation(2500)
    for at in range(0, 2500, 50):
        rows = order[at : at + 50]
        model, state, loss = step(model, state, x[rows], y[rows])
    held_out = float(loss_of(model, x[2500:], y[2500:]))
    print(f"epoch {epoch} loss {float(loss):.5f} val_loss {held_out:.5f}")
