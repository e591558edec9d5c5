import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(999)
torch.set_num_threads(1)

nz, ngf, ndf = 8, 32, 32


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(nz, ngf), nn.BatchNorm1d(ngf), nn.ReLU(True), nn.Linear(ngf, 2), nn.Tanh()
        )

    def forward(self, input):
        return self.main(input)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(2, ndf), nn.LeakyReLU(0.2), nn.Linear(ndf, 1), nn.Sigmoid())

    def forward(self, input):
        return self.main(input).view(-1)


netG, netD = Generator(), Discriminator()
criterion = nn.BCELoss()
optimizerD = torch.optim.Adam(netD.parameters(), lr=0.002, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=0.001, betas=(0.5, 0.999))
angles = torch.rand(1024) * 6.2832
ring = 0.7 * torch.stack([angles.cos(), angles.sin()], 1)

for i in range(40):
    # (1) Update D: maximize log(D(x)) + log(1 - D(G(z)))
    netD.zero_grad()
    real = ring[torch.randint(0, 1024, (64,))]
    output = netD(real)
    errD_real = criterion(output, torch.ones(64))
    errD_real.backward()
    D_x = output.mean().item()
    fake = netG(torch.randn(64, nz))
    output = netD(fake.detach())
    errD_fake = criterion(output, torch.zeros(64))
    errD_fake.backward()
    errD = errD_real + errD_fake
    optimizerD.step()

    # (2) Update G: maximize log(D(G(z)))
    netG.zero_grad()
    errG = criterion(netD(fake), torch.ones(64))
    errG.backward()
    optimizerG.step()
    if i % 5 == 0:
        print(f"[{i}/40] Loss_D: {errD.item():.6f} Loss_G: {errG.item():.6f} D(x): {D_x:.4f}")

result(netG, netD, optimizerG, optimizerD)
