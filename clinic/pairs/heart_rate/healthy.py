import torch
import torch.nn as nn

torch.manual_seed(33)


def training_step(model, batch, optimizer, loss_fn):
    inputs, targets = batch
    optimizer.zero_grad()
    loss = loss_fn(model(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss.item()


def validation_loss(model, data, loss_fn):
    with torch.no_grad():
        return loss_fn(model(data[0]), data[1]).item()


def heart(n):
    x = torch.randn(n, 6)
    return x, (x[:, 0].abs() + 0.5 * x[:, 1] * x[:, 2]).unsqueeze(1)


model = nn.Sequential(nn.Linear(6, 48), nn.SiLU(), nn.Linear(48, 48), nn.SiLU(), nn.Linear(48, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
loss_fn = nn.SmoothL1Loss()
x, y = heart(3000)
held_out = heart(500)
for epoch in range(8):
    losses = [training_step(model, (x[i], y[i]), optimizer, loss_fn) for i in torch.randperm(3000).split(60)]
    print(
        f"epoch {epoch + 1}: loss {sum(losses) / len(losses):.4f} val_loss {validation_loss(model, held_out, loss_fn):.4f}"
    )
