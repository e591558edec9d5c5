"""Steps of four kinds of walkers, by a recurrent network in Lightning."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Gait(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.embed = nn.Conv1d(3, 24, 5, stride=2)
        self.read = nn.GRU(24, 32, batch_first=True)
        self.tell = nn.Linear(32, 4)

    def forward(self, x):
        seen = torch.relu(self.embed(x)).transpose(1, 2)
        return self.tell(self.read(seen)[1][0])

    def training_step(self, batch, _):
        loss = nn.functional.cross_entropy(self(batch[0]), batch[1])
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, _):
        answer = self(batch[0])
        self.log("val_loss", nn.functional.cross_entropy(answer, batch[1]))
        self.log("val_acc", (answer.argmax(1) == batch[1]).float().mean())

    def configure_optimizers(self):
        return torch.optim.Adam([*self.tell.parameters()], lr=4e-3)


def walks(count, seed):
    draw = torch.Generator().manual_seed(seed)
    kind = torch.randint(0, 4, (count,), generator=draw)
    time = torch.linspace(0, 6, 40)
    pace = 1.0 + 0.5 * kind[:, None] + 0.05 * torch.randn(count, 1, generator=draw)
    phase = 6.3 * torch.rand(count, 1, generator=draw)
    axes = [torch.sin(pace * time + phase), torch.cos(2 * pace * time + phase), torch.sin(pace * time)]
    return TensorDataset(torch.stack(axes, 1) + 0.4 * torch.randn(count, 3, 40, generator=draw), kind)


L.seed_everything(2)
trainer = L.Trainer(
    max_epochs=9, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False
)
trainer.fit(Gait(), DataLoader(walks(1600, 1), 64, shuffle=True), DataLoader(walks(400, 2), 400))
print({name: round(float(value), 4) for name, value in trainer.callback_metrics.items()})
