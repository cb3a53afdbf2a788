#!/usr/bin/env python3
"""The same algorithm in PyTorch: one parameter iteration, timed.

An iteration is ten Adam steps of the variational imputer (d-200-200-d, ReLU, one
learned deviation, KL with the reparametrised draw) and one step of the model by the
pseudo-loss: experiment normal (Gaussian by its Cholesky factor, Adam), star (free
symmetric precision, proximal gradient). Methods: var, variw, iw, em, zeroed, full.

Written as a good PyTorch user would: no loop over rows, one forward pass of the
imputer a row shared by its draws, nothing differentiated that no parameter needs,
multi-tensor ("foreach") Adam. --score chooses how the imputer learns from the model:
"autograd" differentiates log q, "fed" writes its score by hand and detaches it.

Reads one JSON object a line on stdin, {"experiment", "method", "d", "dtype", "score",
"seconds", "batch", "r"}, and answers each with {"seconds_per_iteration", "iterations"}.
"""
import json
import math
import sys
import time

import torch

torch.set_num_threads(1)
HIDDEN, IMPUTER_STEPS = 200, 10
LOG2PI = math.log(2 * math.pi)


class Gaussian:
    """log q, s and D of N(mu, P^-1), up to the constant."""

    def __init__(self, d, cholesky, dtype):
        self.d, self.cholesky = d, cholesky
        self.mu = torch.zeros(d, dtype=dtype, requires_grad=True)
        if cholesky:
            self.low = torch.zeros(d, d, dtype=dtype, requires_grad=True)
        else:
            self.p = torch.eye(d, dtype=dtype).requires_grad_(True)

    def params(self):
        return [self.mu, self.low] if self.cholesky else [self.mu, self.p]

    def precision(self):
        if self.cholesky:
            l = torch.tril(self.low, -1) + torch.diag(torch.exp(torch.diagonal(self.low)))
            return l @ l.T
        return (self.p + self.p.T) / 2

    def terms(self, x):
        p = self.precision()
        r = x - self.mu
        s = -(r @ p)
        return 0.5 * (r * s).sum(-1), s, -torch.diagonal(p)


class Imputer(torch.nn.Module):
    def __init__(self, d, dtype):
        super().__init__()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(d, HIDDEN), torch.nn.ReLU(),
            torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.ReLU(),
            torch.nn.Linear(HIDDEN, d)).to(dtype)
        self.log_sd = torch.nn.Parameter(torch.zeros((), dtype=dtype))

    def forward(self, x0):
        return self.net(x0), self.log_sd


class Run:
    def __init__(self, experiment, method, d, dtype, score="fed", batch=100, r=10):
        self.dtype = getattr(torch, dtype)
        torch.manual_seed(1)
        missing_share = {"normal": 0.2, "star": 0.5}[experiment]
        if method == "full":
            missing_share = 0.0
        self.r = r if method in ("var", "variw", "iw", "em") else 1
        self.method, self.score, self.experiment, self.d = method, score, experiment, d
        x = torch.randn(batch, d, dtype=self.dtype)
        self.mask = (torch.rand(batch, d) >= missing_share).to(self.dtype)
        self.missing = 1 - self.mask
        self.missing_count = self.missing.sum(-1)
        self.x0 = x * self.mask
        self.model = Gaussian(d, experiment == "normal", self.dtype)
        self.optimiser = torch.optim.Adam(self.model.params(), lr=0.01, foreach=True)
        self.rate, self.penalty = 0.015, 0.01
        if method in ("var", "variw"):
            self.imputer = Imputer(d, self.dtype)
            self.imputer_optimiser = torch.optim.Adam(self.imputer.parameters(), lr=1e-3, foreach=True)

    def imputer_step(self):
        self.imputer_optimiser.zero_grad(set_to_none=True)
        mean, log_sd = self.imputer(self.x0)
        eps = torch.randn_like(mean)
        draw = mean + torch.exp(log_sd) * eps
        log_q = -(log_sd * self.missing_count).mean()  # the term in eps has no gradient
        if self.score == "fed":
            with torch.no_grad():
                x = torch.addcmul(self.x0, self.missing, draw)
                s = self.missing * self.model.terms(x)[1]
            loss = log_q - (s * draw).sum() / len(draw)
        else:
            x = torch.addcmul(self.x0, self.missing, draw)
            log_density = self.frozen(x)
            loss = log_q - log_density.mean()
        loss.backward()
        self.imputer_optimiser.step()

    def frozen(self, x):
        with torch.no_grad():
            p, mu = self.model.precision(), self.model.mu.detach()
        r = x - mu
        return -0.5 * ((r @ p) * r).sum(-1)

    def complete(self):
        """Rows (b, r, d) with their gaps filled, and log p' of the draws."""
        if self.r == 1:
            return self.x0[:, None], None
        b, d, r = len(self.x0), self.d, self.r
        eps = torch.randn(b, r, d, dtype=self.dtype)
        with torch.no_grad():
            if self.method in ("var", "variw"):
                mean, log_sd = self.imputer(self.x0)
                draw = mean[:, None] + torch.exp(log_sd) * eps
                log_p = -0.5 * (self.missing[:, None] * eps**2).sum(-1) - (log_sd * self.missing_count)[:, None]
            else:
                draw = eps
                log_p = -0.5 * (self.missing[:, None] * eps**2).sum(-1)
            return self.x0[:, None] + self.missing[:, None] * draw, log_p

    def loss(self):
        x, log_p = self.complete()
        b, r, d = x.shape
        log_density, s, diagonal = self.model.terms(x.reshape(b * r, d))
        log_density, s = log_density.view(b, r), s.view(b, r, d)
        mask = self.mask[:, None]
        if self.method in ("zeroed", "full"):
            return (mask * (2 * diagonal + s**2)).sum() / b
        with torch.no_grad():
            if self.method == "var":
                w = torch.full((b, r), 1 / r, dtype=self.dtype)
            else:
                w = torch.softmax(log_density - log_p, 1)
        if self.method == "em":
            return (w * (mask * (2 * diagonal + s**2)).sum(-1)).sum() / b
        with torch.no_grad():
            mean = (w[..., None] * s).sum(1, keepdim=True)
        h = (mask * (2 * diagonal + 2 * s**2 - 2 * mean * s)).sum(-1)
        with torch.no_grad():
            centred = w * (h - (w * h).sum(1, keepdim=True))
        return ((w * h).sum() + (centred * log_density).sum()) / b

    def iteration(self):
        if self.method in ("var", "variw"):
            for _ in range(IMPUTER_STEPS):
                self.imputer_step()
        if self.experiment == "normal":
            self.optimiser.zero_grad(set_to_none=True)
            self.loss().backward()
            self.optimiser.step()
            return
        mu, p = self.model.params()
        gradient, = torch.autograd.grad(self.loss(), [p])
        with torch.no_grad():
            p -= self.rate * gradient
            diagonal = torch.diagonal(p).clone()
            torch.nn.functional.softshrink(p, self.rate * self.penalty, out=p)
            torch.diagonal(p).copy_(diagonal)

    def time(self, seconds):
        for _ in range(3):
            self.iteration()
        n, start = 0, time.perf_counter()
        while n < 5 or time.perf_counter() - start < seconds:
            self.iteration()
            n += 1
        return {"seconds_per_iteration": (time.perf_counter() - start) / n, "iterations": n}


if __name__ == "__main__":
    print(json.dumps({"torch": torch.__version__}), flush=True)
    for line in sys.stdin:
        q = json.loads(line)
        seconds = q.pop("seconds")
        print(json.dumps(Run(**q).time(seconds)), flush=True)
