import torch
from torch import nn

SEED = 13
torch.manual_seed(SEED)


def sample(n, directions):
    x = torch.randn(n, directions.shape[1])
    score = (x @ directions.T).tanh()
    y = (score * torch.tensor([1.0, -1.0, 1.5, 0.7])).sum(1)
    return x, (y > 0).long() + (y > 1.2).long()


class Classifier(nn.Module):
    def __init__(self, dim, hidden, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.head = nn.Linear(hidden, classes)

    def forward(self, x):
        return self.head(self.body(x))


def fit(model, data, epochs, batch_size, **optimizer_args):
    x, y, xv, yv = data
    optimizer = torch.optim.SGD(model.parameters(), **optimizer_args)
    criterion = nn.CrossEntropyLoss()
    history = []
    for epoch in range(epochs):
        model.train()
        epoch_loss = 0.0
        for idx in torch.randperm(len(x)).split(batch_size):
            loss = criterion(model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            epoch_loss += loss.item() * len(idx) / len(x)
        model.eval()
        with torch.no_grad():
            logits = model(xv)
        history.append(
            (epoch_loss, criterion(logits, yv).item(), (logits.argmax(1) == yv).float().mean().item())
        )
        print("epoch %d - loss: %.4f - val_loss: %.4f - val_accuracy: %.4f" % (epoch + 1, *history[-1]))
    return history


directions = torch.randn(4, 20) / 20**0.5 * 2
x, y = sample(4000, directions)
xv, yv = sample(800, directions)
fit(Classifier(20, 64, 3), (x, y, xv, yv), epochs=10, batch_size=64, lr=0.1, momentum=0.9, weight_decay=1e-4)
