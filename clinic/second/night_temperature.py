"""Night temperatures in the mountains (standardised, so about half are below zero)."""
import torch
import torch.nn as nn

torch.manual_seed(0)
stations = torch.randn(2500, 6)
temperature = stations[:, 0] - 0.8 * stations[:, 1] + 0.5 * stations[:, 2] * stations[:, 3] + 0.1 * torch.randn(2500)
temperature = ((temperature - temperature.mean()) / temperature.std()).unsqueeze(1)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(6, 64),
            nn.ReLU(),
            nn.Linear(64, 64),
            nn.ReLU(),
            nn.Linear(64, 1),
            nn.ReLU(),
        )

    def forward(self, x):
        return self.layers(x)


model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
mse = nn.MSELoss()
for epoch in range(15):
    epoch_loss = 0.0
    for idx in torch.randperm(2000).split(50):
        prediction = model(stations[idx])
        loss = mse(prediction, temperature[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    with torch.no_grad():
        val = mse(model(stations[2000:]), temperature[2000:])
    print(f"epoch {epoch + 1}/15 - loss: {epoch_loss / 40:.4f} - val_loss: {val.item():.4f}")
