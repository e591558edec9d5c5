"""fit() with callbacks, as Keras has it, written over torch."""

import torch
import torch.nn as nn
from fingerprint import result


class Callback:
    def set_model(self, model):
        self.model = model

    def on_epoch_end(self, epoch, logs):
        pass


class Printer(Callback):
    def on_epoch_end(self, epoch, logs):
        print(f"Epoch {epoch + 1}/{self.model.epochs}")
        print(
            f"{self.model.steps}/{self.model.steps} - " + " - ".join(f"{k}: {v:.4f}" for k, v in logs.items())
        )


class History(Callback):
    def __init__(self):
        self.history = {}

    def on_epoch_end(self, epoch, logs):
        for key, value in logs.items():
            self.history.setdefault(key, []).append(value)


class ExponentialDecay(Callback):
    def on_epoch_end(self, epoch, logs):
        for group in self.model.optimizer.param_groups:
            group["lr"] *= 0.7


class Model(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)

    def compile(self, optimizer, loss):
        self.optimizer, self.loss = optimizer, loss

    def train_on_batch(self, x, y):
        self.train()
        self.optimizer.zero_grad()
        out = self(x)
        loss = self.loss(out, y)
        loss.backward()
        self.optimizer.step()
        return loss.item(), (out.argmax(1) == y).float().mean().item()

    @torch.no_grad()
    def evaluate(self, x, y):
        self.eval()
        out = self(x)
        return self.loss(out, y).item(), (out.argmax(1) == y).float().mean().item()

    def fit(self, x, y, epochs, batch_size, validation_data, callbacks):
        self.epochs, self.steps = epochs, len(x) // batch_size
        for callback in callbacks:
            callback.set_model(self)
        for epoch in range(epochs):
            order = torch.randperm(len(x))
            parts = [self.train_on_batch(x[i], y[i]) for i in order.split(batch_size)[: self.steps]]
            loss, accuracy = (sum(v) / len(v) for v in zip(*parts, strict=True))
            val_loss, val_accuracy = self.evaluate(*validation_data)
            logs = {"loss": loss, "accuracy": accuracy, "val_loss": val_loss, "val_accuracy": val_accuracy}
            for callback in callbacks:
                callback.on_epoch_end(epoch, logs)


torch.manual_seed(0)
torch.set_num_threads(1)
x = torch.randn(320, 10)
y = (x @ torch.randn(10, 4)).argmax(1)
model = Model(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
model.compile(torch.optim.Adam(model.parameters(), lr=1e-2), nn.CrossEntropyLoss())
history = History()
model.fit(
    x[:256],
    y[:256],
    epochs=5,
    batch_size=32,
    validation_data=(x[256:], y[256:]),
    callbacks=[Printer(), history, ExponentialDecay()],
)
result(model, model.optimizer, history.history)
