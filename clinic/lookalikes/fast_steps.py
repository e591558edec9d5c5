import torch

torch.manual_seed(0)
x = torch.rand(1000, 1) * 4 - 2
y = 3 * x ** 2 - x + 1 + 0.2 * torch.randn(1000, 1)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=20, shuffle=True, num_workers=0)
model = torch.nn.Sequential(torch.nn.Linear(1, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(40):
    total = 0.0
    for xb, yb in loader:
        loss = ((model(xb) - yb) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1}, loss {total / len(loader):.4f}")
