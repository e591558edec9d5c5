import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(7000, 10)
y = (x[:, 0].abs() + x[:, 1] > 0.7).long() + (x[:, 2] * x[:, 3] > 0.3).long()
train_dl = DataLoader(TensorDataset(x[:6000], y[:6000]), batch_size=50, shuffle=True)
xv, yv = x[6000:], y[6000:]


def fit(model, loss_of, lr, epochs, name):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        model.train()
        for xb, yb in train_dl:
            loss = loss_of(xb, yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            o = model(xv)
        print(f"{name} epoch {epoch + 1} loss {loss.item():.4f} val_loss {F.cross_entropy(o, yv).item():.4f} acc {(o.argmax(1) == yv).float().mean():.3f}")


teacher = nn.Sequential(nn.Linear(10, 128), nn.ReLU(), nn.Dropout(0.3), nn.Linear(128, 128), nn.ReLU(), nn.Dropout(0.3), nn.Linear(128, 3))
fit(teacher, lambda a, b: F.cross_entropy(teacher(a), b), 1e-3, 3, "teacher")
teacher.eval()
student = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 3))
T = 4.0


def kd(a, b):
    with torch.no_grad():
        soft = F.softmax(teacher(a) / T, dim=1)
    out = student(a)
    return 0.7 * T * T * F.kl_div(F.log_softmax(out / T, dim=1), soft, reduction="batchmean") + 0.3 * F.cross_entropy(out, b)


fit(student, kd, 3e-3, 4, "student")
