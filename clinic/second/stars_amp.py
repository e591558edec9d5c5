import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = "cpu"
protos = torch.randn(6, 40)
label = torch.randint(0, 6, (2400,))
spectra = protos[label] + 1.0 * torch.randn(2400, 40)
train_loader = DataLoader(TensorDataset(spectra[:2000], label[:2000]), batch_size=50, shuffle=True)

model = nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.Linear(64, 6)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
criterion = nn.CrossEntropyLoss()
scaler = torch.amp.GradScaler(device)
for epoch in range(8):
    model.train()
    total = 0.0
    for x, y in train_loader:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device_type=device, dtype=torch.float16):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        scaler.step(optimizer)
        scaler.update()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        out = model(spectra[2000:])
    print(f"epoch {epoch + 1}: loss {total / len(train_loader):.4f} val_loss {criterion(out, label[2000:]).item():.4f} acc {(out.argmax(1) == label[2000:]).float().mean():.3f} scale {scaler.get_scale():.0f}")
