import copy, torch, torch.nn as nn, torch.nn.functional as F
from torchvision import models
backbone = models.resnet50(pretrained=True)
for p in backbone.parameters(): p.requires_grad = False
backbone.fc = nn.Linear(2048, 5)
backbone.cuda()
optimizer = torch.optim.SGD(filter(lambda p: p.requires_grad, backbone.parameters()), lr=1e-2, momentum=0.9)
teacher = models.resnet101(pretrained=True).cuda().eval()
student = models.resnet18().cuda()
opt2 = torch.optim.AdamW(student.parameters(), lr=1e-3)
T = 4.0
for epoch in range(3):
    backbone.train(); student.train()
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        loss = F.cross_entropy(backbone(x), y)
        optimizer.zero_grad(); loss.backward(); optimizer.step()
        with torch.no_grad(): t = teacher(x)
        s = student(x)
        kd = F.kl_div(F.log_softmax(s / T, dim=1), F.softmax(t / T, dim=1), reduction="batchmean") * T * T + F.cross_entropy(s, y)
        opt2.zero_grad(); kd.backward(); opt2.step()
    if epoch == 1:
        for p in backbone.layer4.parameters(): p.requires_grad = True
        optimizer.add_param_group({"params": backbone.layer4.parameters(), "lr": 1e-4})
    backbone.eval(); correct = 0
    for x, y in val_loader:
        with torch.no_grad(): correct += (backbone(x.cuda()).argmax(1).cpu() == y).sum().item()
