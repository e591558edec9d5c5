import torch
import torch.nn as nn

torch.manual_seed(11)
x_train, x_val = torch.randn(120, 30), torch.randn(400, 30)
w = torch.randn(30)


def label(x):
    return ((x @ w + 3.0 * torch.randn(len(x))) > 0).long()


y_train, y_val = label(x_train), label(x_val)

model = nn.Sequential(nn.Linear(30, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(60):
    model.train()
    for i in range(0, 120, 20):
        optimizer.zero_grad()
        loss = criterion(model(x_train[i : i + 20]), y_train[i : i + 20])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        train_out, val_out = model(x_train), model(x_val)
        train_loss, val_loss = criterion(train_out, y_train), criterion(val_out, y_val)
        val_acc = (val_out.argmax(1) == y_val).float().mean()
    print(f"epoch {epoch} train_loss {train_loss:.4f} val_loss {val_loss:.4f} val_acc {val_acc:.3f}")
