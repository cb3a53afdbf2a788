"""Imputes a table by MissDiff (Ouyang et al. 2023): a denoising score network on zeros in the gaps, whose
loss counts observed cells only.

    python3 missdiff.py table.csv out.csv kinds - train m seed

The arguments and the output are as in impute.py. Variance-preserving noise, three layers of 64, 6000 steps of 100 rows.
Draws: 250 noise levels, observed cells replaced by their noisy values, five repetitions a level (RePaint).
"""
import math
import sys
import time

import numpy as np
import torch

torch.set_num_threads(1)
table, out, kinds = sys.argv[1:4]
train, m, seed = map(int, sys.argv[5:8])
torch.manual_seed(seed)
x = np.genfromtxt(table, delimiter=",", skip_header=1, comments=None)
gaps = np.isnan(x)
if set(kinds.split(",")) - {"number", "whole"}:
    sys.exit("numbers only")
mean, deviation = np.nanmean(x[:train], 0), np.nanstd(x[:train], 0)
z = torch.tensor(np.where(gaps, 0, (x - mean) / deviation), dtype=torch.float32)
seen = torch.tensor(~gaps, dtype=torch.float32)
d = z.shape[1]


class Network(torch.nn.Module):
    def __init__(self, hidden=64, frequencies=8):
        super().__init__()
        self.frequencies = torch.exp(torch.linspace(0, math.log(1000), frequencies))
        self.rows, self.time = torch.nn.Linear(d, hidden), torch.nn.Linear(2 * frequencies, hidden)
        self.rest = torch.nn.Sequential(torch.nn.SiLU(), torch.nn.Linear(hidden, hidden), torch.nn.SiLU(),
                                        torch.nn.Linear(hidden, hidden), torch.nn.SiLU(), torch.nn.Linear(hidden, d))

    def forward(self, y, t):
        e = t[:, None] * self.frequencies
        return self.rest(self.rows(y) + self.time(torch.cat([e.sin(), e.cos()], 1)))


def noise(t):  # of y(t) = a x + s ε, β from 0.1 to 20
    integral = 0.1 * t + 0.5 * 19.9 * t * t
    return torch.exp(-0.5 * integral), torch.sqrt(-torch.expm1(-integral))


network = Network()
optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
for _ in range(6000):
    r, t = torch.randint(0, train, (100,)), torch.rand(100) * 0.999 + 0.001
    a, s = noise(t)
    e = torch.randn(100, d)
    loss = ((network((a[:, None] * z[r] + s[:, None] * e) * seen[r], t) - e) ** 2 * seen[r]).sum() / 100
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()

levels, repetitions = 250, 5
rows, mask = z.repeat(m, 1), seen.repeat(m, 1)
y = torch.randn_like(rows)
with torch.no_grad():
    for k in range(levels, 0, -1):
        a, s = noise(torch.tensor(k / levels))
        b, q = noise(torch.tensor((k - 1) / levels))
        for repetition in range(repetitions if k < levels // 2 else 1):
            if repetition:  # back up one level
                y = a / b * y + torch.sqrt(1 - (a / b) ** 2) * torch.randn_like(y)
            e = network(y, torch.full((len(y),), k / levels))
            x0 = (y - s * e) / a
            ratio = (a / b) ** 2
            centre = b * (1 - ratio) / s**2 * x0 + (a / b) * q**2 / s**2 * y
            y = centre + torch.sqrt((1 - ratio) * q**2 / s**2) * torch.randn_like(y)
            y = mask * (b * rows + q * torch.randn_like(rows)) + (1 - mask) * y
values = y.numpy().reshape(m, *z.shape) * deviation + mean
print(f"{time.process_time():.2f}")
np.savetxt(out, values[:, gaps].T, delimiter=",", fmt="%.12g")
