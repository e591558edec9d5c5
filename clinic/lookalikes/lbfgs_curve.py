import numpy as np
import torch

torch.manual_seed(0)
t = torch.linspace(0, 4 * np.pi, 300)
signal = torch.sin(t) * torch.exp(-t / 8) + 0.05 * torch.randn(300)
x = (t / t.max() * 2 - 1).unsqueeze(1)

model = torch.nn.Sequential(
    torch.nn.Linear(1, 30), torch.nn.Tanh(), torch.nn.Linear(30, 30), torch.nn.Tanh(), torch.nn.Linear(30, 1)
)
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=10, history_size=20)
for i in range(160):

    def closure():
        optimizer.zero_grad()
        out = model(x).squeeze(1)
        loss = torch.nn.functional.mse_loss(out, signal)
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    if i % 10 == 0:
        print("STEP:", i, "loss:", loss.item())
