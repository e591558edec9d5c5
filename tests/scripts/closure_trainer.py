"""A miniature of the frameworks that hand the optimizer a closure."""

import torch
import torch.nn as nn
from fingerprint import result


class Module(nn.Module):
    def training_step(self, batch, batch_idx):
        raise NotImplementedError

    def validation_step(self, batch, batch_idx):
        pass

    def configure_optimizers(self):
        raise NotImplementedError

    def log(self, name, value):
        self.trainer.logged[name] = value.item()

    def on_before_optimizer_step(self, optimizer):
        pass

    def optimizer_step(self, epoch, batch_idx, optimizer, closure):
        optimizer.step(closure=closure)


class Fitter:
    def __init__(self, max_epochs, gradient_clip_val=None):
        self.max_epochs, self.gradient_clip_val = max_epochs, gradient_clip_val
        self.logged, self.global_step = {}, 0

    def fit(self, module, train_batches, val_batches):
        module.trainer = self
        optimizer, scheduler = module.configure_optimizers()
        for epoch in range(self.max_epochs):
            module.train()
            for index, batch in enumerate(train_batches):

                def closure(batch=batch, index=index):
                    loss = module.training_step(batch, index)
                    optimizer.zero_grad()
                    loss.backward()
                    module.on_before_optimizer_step(optimizer)
                    if self.gradient_clip_val:
                        torch.nn.utils.clip_grad_norm_(module.parameters(), self.gradient_clip_val)
                    return loss

                module.optimizer_step(epoch, index, optimizer, closure)
                self.global_step += 1
                if self.global_step % 4 == 0:
                    print(self.global_step, " ".join(f"{k}={v:.6f}" for k, v in self.logged.items()))
            scheduler.step()
            module.eval()
            with torch.no_grad():
                values = [module.validation_step(batch, i) for i, batch in enumerate(val_batches)]
            print(f"epoch={epoch} step={self.global_step} val_loss={torch.stack(values).mean():.6f}")
        return optimizer


class LitRegressor(Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 24), nn.SiLU(), nn.Linear(24, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.mse_loss(self.net(x), y)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.mse_loss(self.net(x), y)

    def on_before_optimizer_step(self, optimizer):
        norms = [p.grad.norm() for p in self.parameters()]
        self.log("grad", torch.stack(norms).norm())

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=0.01)
        return optimizer, torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(3)
    weights = torch.randn(6, 1)
    inputs = torch.randn(12, 32, 6)
    batches = [(x, x @ weights) for x in inputs]
    module = LitRegressor()
    optimizer = Fitter(max_epochs=4, gradient_clip_val=0.5).fit(module, batches[:8], batches[8:])
    result(module, optimizer)
