"""A real Lightning training: closures inside step, clipping after on_before_optimizer_step."""

import hashlib

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.log("loss", loss)
        print(f"global_step {self.global_step + 1} loss {loss.item():.6f}")
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.log("val_loss", loss)

    def on_validation_epoch_end(self):
        print(f"at {self.global_step} val_loss {self.trainer.callback_metrics['val_loss']:.6f}")

    def on_before_optimizer_step(self, optimizer):
        norm = torch.stack([p.grad.norm() for p in self.parameters()]).norm()
        print(f"global_step {self.global_step + 1} norm {norm:.6f}")

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-2)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)]


def main():
    L.seed_everything(0, verbose=False)
    torch.set_num_threads(1)
    x = torch.randn(192, 8)
    data = TensorDataset(x, (x @ torch.randn(8, 3)).argmax(1))
    train = DataLoader(torch.utils.data.Subset(data, range(128)), batch_size=16, shuffle=True)
    val = DataLoader(torch.utils.data.Subset(data, range(128, 192)), batch_size=64)
    model = Lit()
    trainer = L.Trainer(
        max_epochs=3,
        accelerator="cpu",
        gradient_clip_val=0.5,
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
        logger=False,
        num_sanity_val_steps=0,
    )
    trainer.fit(model, train, val)
    digest = hashlib.sha256(b"".join(v.numpy().tobytes() for v in model.state_dict().values()))
    print("RESULT", digest.hexdigest(), hashlib.sha256(torch.get_rng_state().numpy()).hexdigest()[:16])


if __name__ == "__main__":
    main()
