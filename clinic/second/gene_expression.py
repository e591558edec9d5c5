import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
genes, patients = 100, 160
x = torch.randn(patients + 200, genes)
y = ((x[:, :4].sum(1) + 1.0 * torch.randn(patients + 200)) > 0).long()

classifier = nn.Sequential(
    nn.Linear(genes, 1024), nn.ReLU(),
    nn.Linear(1024, 1024), nn.ReLU(),
    nn.Linear(1024, 2),
)
print("parameters:", sum(p.numel() for p in classifier.parameters()))
adam = torch.optim.Adam(classifier.parameters(), lr=3e-4)
ce = nn.CrossEntropyLoss()
for epoch in range(40):
    classifier.train()
    run = 0.0
    for idx in torch.randperm(patients).split(32):
        adam.zero_grad()
        loss = ce(classifier(x[idx]), y[idx])
        loss.backward()
        adam.step()
        run += loss.item() / 5
    classifier.eval()
    with torch.no_grad():
        out = classifier(x[patients:])
    print(f"epoch {epoch + 1}: train_loss {run:.4f} val_loss {ce(out, y[patients:]).item():.4f} val_acc {(out.argmax(1) == y[patients:]).float().mean():.3f}")
