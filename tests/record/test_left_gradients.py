"""Gradients that nobody zeroes are found where several optimizers share the work, and only those."""

from __future__ import annotations

from pathlib import Path

import pytest

import traindx
from tests.warm import ran, record
from traindx.engine import diagnose

HEAD = """
import itertools, torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
STEPS = 40
bce = F.binary_cross_entropy_with_logits

def net(inputs, outputs, width=16):
    return nn.Sequential(nn.Linear(inputs, width), nn.Tanh(), nn.Linear(width, outputs))

def clear(params):
    for p in params:
        p.grad = None

G, D = net(4, 2), net(2, 1)
opt_g, opt_d = torch.optim.Adam(G.parameters(), lr=1e-3), torch.optim.Adam(D.parameters(), lr=1e-3)

def real(): return torch.randn(32, 2) + 2
def made(): return G(torch.randn(32, 4))
def loss_d():
    a, b = D(real()), D(made().detach())
    return bce(a, torch.ones_like(a)) + bce(b, torch.zeros_like(b))
def loss_g():
    a = D(made())
    return bce(a, torch.ones_like(a))
"""
TAIL = """
print([p.detach().double().sum().item().hex() for p in itertools.chain(G.parameters(), D.parameters())])
"""
FAULTY = {
    "the discriminator": (
        "opt_d",
        """
for step in range(STEPS):
    loss_d().backward(); opt_d.step()
    opt_g.zero_grad(); loss_g().backward(); opt_g.step()
""",
    ),
    "the generator, clipped": (
        "opt_g",
        """
for step in range(STEPS):
    opt_d.zero_grad(); loss_d().backward()
    nn.utils.clip_grad_norm_(D.parameters(), 0.5); opt_d.step()
    loss_g().backward()
    nn.utils.clip_grad_norm_(G.parameters(), 0.5); opt_g.step()
""",
    ),
    "once for five steps of the critic": (
        "opt_d",
        """
for step in range(STEPS):
    opt_d.zero_grad()
    for _ in range(5):
        (D(made().detach()) - D(real())).mean().backward(); opt_d.step()
        for p in D.parameters(): p.data.clamp_(-0.1, 0.1)
    opt_g.zero_grad(); (-D(made()).mean()).backward(); opt_g.step()
""",
    ),
    "the wrong model": (
        "opt_d",
        """
for step in range(STEPS):
    G.zero_grad(set_to_none=False); loss_d().backward(); opt_d.step()
    G.zero_grad(set_to_none=False); loss_g().backward(); opt_g.step()
""",
    ),
    "the critic that shares a trunk": (
        "opt_v",
        """
trunk, policy, value = net(4, 8), nn.Linear(8, 3), nn.Linear(8, 1)
opt_p = torch.optim.SGD([*trunk.parameters(), *policy.parameters()], lr=0.01)
opt_v = torch.optim.SGD(value.parameters(), lr=0.01)
for step in range(STEPS):
    x = torch.randn(16, 4)
    h, r = trunk(x), x.sum(1)
    v = value(h).squeeze(1)
    logp = F.log_softmax(policy(h), 1)[:, 0]
    opt_p.zero_grad()
    (-(logp * (r - v.detach())).mean() + F.mse_loss(v, r)).backward()
    opt_p.step(); opt_v.step()
""",
    ),
    "one of a scaler's": (
        "opt_d",
        """
scaler = torch.amp.GradScaler("cpu", init_scale=64.0)
for step in range(STEPS):
    scaler.scale(loss_d()).backward(); scaler.step(opt_d)
    opt_g.zero_grad(); scaler.scale(loss_g()).backward(); scaler.step(opt_g)
    scaler.update()
""",
    ),
    "one of two for one loss": (
        "opt_b",
        """
model = net(4, 1)
opt_a = torch.optim.SGD(model[0].parameters(), lr=0.01)
opt_b = torch.optim.SGD(model[2].parameters(), lr=0.01)
for step in range(STEPS):
    x = torch.randn(16, 4)
    opt_a.zero_grad()
    F.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
    opt_a.step(); opt_b.step()
""",
    ),
}
HEALTHY = {
    "each before its own backward": """
for step in range(STEPS):
    opt_d.zero_grad(); loss_d().backward(); opt_d.step()
    opt_g.zero_grad(); loss_g().backward(); opt_g.step()
""",
    "to zero": """
for step in range(STEPS):
    opt_d.zero_grad(set_to_none=False); loss_d().backward(); opt_d.step()
    opt_g.zero_grad(set_to_none=False); loss_g().backward(); opt_g.step()
""",
    "after the step": """
for step in range(STEPS):
    loss_d().backward(); opt_d.step(); D.zero_grad()
    loss_g().backward(); opt_g.step(); G.zero_grad(); D.zero_grad()
""",
    "by hand": """
for step in range(STEPS):
    clear(D.parameters()); loss_d().backward(); opt_d.step()
    for p in G.parameters():
        if p.grad is not None: p.grad.data.zero_()
    loss_g().backward(); opt_g.step()
""",
    "a gradient penalty": """
for step in range(STEPS):
    x = real().requires_grad_(True)
    opt_d.zero_grad()
    penalty = torch.autograd.grad(D(x).sum(), x, create_graph=True)[0].square().sum(1).mean()
    (loss_d() + penalty).backward(); opt_d.step()
    opt_g.zero_grad(); loss_g().backward(); opt_g.step()
""",
    "accumulated over several": """
for step in range(STEPS):
    for _ in range(4): (loss_d() / 4).backward()
    opt_d.step(); opt_d.zero_grad()
    opt_g.zero_grad()
    for _ in range(3): (loss_g() / 3).backward()
    opt_g.step()
""",
    "two losses, one after the other": """
for step in range(STEPS):
    opt_d.zero_grad()
    a, b = D(real()), D(made().detach())
    bce(a, torch.ones_like(a)).backward(); bce(b, torch.zeros_like(b)).backward()
    opt_d.step()
    opt_g.zero_grad(); loss_g().backward(); opt_g.step()
""",
    "the generator rarely": """
for step in range(4 * STEPS):
    opt_d.zero_grad(); loss_d().backward(); opt_d.step()
    if step % 5 == 4:
        opt_g.zero_grad(); loss_g().backward(); opt_g.step()
""",
    "a scaler that skips": """
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
for step in range(STEPS):
    opt_d.zero_grad(); scaler.scale(loss_d()).backward(); scaler.step(opt_d)
    opt_g.zero_grad(); scaler.scale(loss_g()).backward(); scaler.step(opt_g)
    scaler.update()
""",
    "closures": """
opt_g = torch.optim.LBFGS(G.parameters(), lr=0.1, max_iter=3)
def closure():
    opt_g.zero_grad()
    loss = loss_g()
    loss.backward()
    return loss
for step in range(STEPS):
    opt_d.zero_grad(); loss_d().backward(); opt_d.step()
    opt_g.step(closure)
""",
    "shared parameters": """
trunk, policy, value = net(4, 8), nn.Linear(8, 3), nn.Linear(8, 1)
opt_p = torch.optim.Adam([*trunk.parameters(), *policy.parameters()], lr=1e-3)
opt_v = torch.optim.Adam([*trunk.parameters(), *value.parameters()], lr=1e-3)
for step in range(STEPS):
    x = torch.randn(16, 4)
    r = x.sum(1)
    v = value(trunk(x)).squeeze(1)
    opt_v.zero_grad(); F.mse_loss(v, r).backward(); opt_v.step()
    logp = F.log_softmax(policy(trunk(x)), 1)[:, 0]
    opt_p.zero_grad(); (-(logp * (r - v.detach())).mean()).backward(); opt_p.step()
""",
    "soft actor and critic with a temperature": """
actor, critic = net(4, 2), net(6, 1)
log_alpha = torch.zeros(1, requires_grad=True)
opt_a, opt_c = torch.optim.Adam(actor.parameters()), torch.optim.Adam(critic.parameters())
opt_t = torch.optim.Adam([log_alpha], lr=1e-2)
for step in range(STEPS):
    x = torch.randn(16, 4)
    q = critic(torch.cat([x, torch.randn(16, 2)], 1)).squeeze(1)
    opt_c.zero_grad(); F.mse_loss(q, x.sum(1)).backward(); opt_c.step()
    action = actor(x)
    entropy = action.square().mean()
    opt_a.zero_grad()
    (-critic(torch.cat([x, action], 1)).mean() + log_alpha.exp().detach() * entropy).backward()
    opt_a.step()
    opt_t.zero_grad(); (log_alpha.exp() * (entropy.detach() - 1)).sum().backward(); opt_t.step()
""",
    "gradients written by hand": """
for step in range(STEPS):
    opt_g.zero_grad(); loss_g().backward(); opt_g.step()
    for p, g in zip(D.parameters(), torch.autograd.grad(loss_d(), D.parameters())):
        p.grad = g
    opt_d.step()
""",
    "one loss for two": """
model = net(4, 1)
opt_a = torch.optim.SGD(model[0].parameters(), lr=0.01)
opt_b = torch.optim.SGD(model[2].parameters(), lr=0.01)
for step in range(STEPS):
    x = torch.randn(16, 4)
    model.zero_grad()
    F.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
    opt_a.step(); opt_b.step()
""",
    "a part without gradient": """
opt_d = torch.optim.SGD([*D.parameters(), nn.Parameter(torch.zeros(3))], lr=0.01)
for step in range(STEPS):
    opt_d.zero_grad(); loss_d().backward(); opt_d.step()
    D.requires_grad_(False)
    opt_g.zero_grad(); loss_g().backward(); opt_g.step()
    D.requires_grad_(True)
""",
    "stepping inside backward": """
model = net(4, 1)
each = {p: torch.optim.SGD([p], lr=0.01) for p in model.parameters()}
def step_one(p):
    each[p].step(); each[p].zero_grad()
for p in each: p.register_post_accumulate_grad_hook(step_one)
for step in range(STEPS):
    x = torch.randn(16, 4)
    F.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
""",
    "traces that decay": """
for step in range(STEPS):
    opt_g.zero_grad(); loss_g().backward(); opt_g.step()
    for p in D.parameters():
        if p.grad is not None: p.grad.mul_(0.5)
    loss_d().backward(); opt_d.step()
""",
    "sparse gradients": """
table = nn.Embedding(20, 4, sparse=True)
opt_e, opt_h = torch.optim.SparseAdam(table.parameters()), torch.optim.Adam(G.parameters())
for step in range(STEPS):
    opt_e.zero_grad(); opt_h.zero_grad()
    G(table(torch.randint(0, 20, (16,)))).square().mean().backward()
    opt_e.step(); opt_h.step()
""",
}
# Nothing can be said of gradients that are not read one by one, or that never are the recorder's to see.
UNKNOWN = {"stepping inside backward", "sparse gradients"}


@pytest.mark.parametrize("name", FAULTY)
def test_found_and_named(tmp_path: Path, name: str) -> None:
    optimizer, loop = FAULTY[name]
    (tmp_path / "train.py").write_text(HEAD + loop + TAIL)
    recorded = record(tmp_path, "r", "train.py")
    assert recorded.out == ran(tmp_path, "train.py").out
    (run,) = traindx.read(tmp_path / "r").runs
    (event,) = [event for event in run.events if event.kind == "stale_gradients"]
    assert (event.data["optimizer"], event.data["norm"] > 0) == (optimizer, True)
    diagnosis = diagnose(tmp_path / "r")
    assert diagnosis.problems[0].hypotheses[0].cause == "missing_zero_grad"
    found = [finding for finding in diagnosis.problems[0].findings if finding.id == "gradients_not_zeroed"]
    assert optimizer in found[0].text


@pytest.mark.parametrize("name", HEALTHY)
def test_silent(tmp_path: Path, name: str) -> None:
    (tmp_path / "train.py").write_text(HEAD + HEALTHY[name] + TAIL)
    recorded = record(tmp_path, "r", "train.py")
    assert recorded.out == ran(tmp_path, "train.py").out
    (run,) = traindx.read(tmp_path / "r").runs
    assert not [event for event in run.events if event.kind == "stale_gradients"]
    diagnosis = diagnose(tmp_path / "r")
    (check,) = [check for check in diagnosis.coverage if check.check == "gradients_not_zeroed"]
    assert (check.status == "skipped") == (name in UNKNOWN)
    assert not check.seen
