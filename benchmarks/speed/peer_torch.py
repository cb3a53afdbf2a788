"""The same algorithm in PyTorch: one parameter iteration, timed.

An iteration is ten Adam steps of the variational imputer (d-200-200-d, ReLU, one
learned standard deviation, KL with the reparametrised draw) on batches of rows, where the
method has one, and one step of the model on all n rows:
experiments normal (Gaussian by its Cholesky factor, Adam), quartic (log q = sum
theta_ij x_i^2 x_j^2 with -theta = LL', Adam) and star (free symmetric precision,
proximal gradient, kept positive definite); methods var, variw, iw, em, zeroed, full
and, for Gaussians, exact (closed form).

Idiomatic PyTorch: no loop over rows, one forward pass of the imputer for all draws of a
row, no unneeded gradients, one precision for all imputer steps, the gradient of the closed
form by hand, memory kept between uses (see speed.go), no denormals. Adam loops over
tensors: the multi-tensor version ("foreach") was slower. Two choices have variants:
  score  how the imputer learns from the model: "autograd" differentiates log q,
         "fed" writes its score by hand
  chunk  rows that a step of the model handles at a time

The script is a server: it prints its name, then answers each line of JSON with another.
  {"start": {...}}  sets a setting, see Run; {}
  {"time": s}       iterates for s seconds; {"seconds_per_iteration", "iterations"}
  {"path": [...]}   one iteration at each of the penalties; as "time"
  {"check": {...}}  gradients at given numbers, see Run.check
  {"parameters": 0} the model's {"matrix"}
or {"error": text}.
"""
import json
import sys
import time

import torch

torch.set_num_threads(1)
torch.set_flush_denormal(True)
HIDDEN, IMPUTER_STEPS, FLOOR = 200, 10, 1e-3
METHODS = "var", "variw", "iw", "em", "zeroed", "full", "exact"


class Factor:
    """A parameter M = LL' with L_jj = exp(.)."""

    def __init__(self, d, start, dtype):
        self.low = torch.zeros(d, d, dtype=dtype)
        self.low.diagonal().fill_(start)
        self.low.requires_grad_(True)

    def product(self):
        l = torch.tril(self.low, -1) + torch.diag(torch.exp(torch.diagonal(self.low)))
        return l @ l.T


class Gaussian:
    """log q, s and D of N(mu, P^-1), up to the constant."""

    def __init__(self, d, free, dtype):
        self.mu = torch.zeros(d, dtype=dtype)
        if free:
            self.matrix = torch.eye(d, dtype=dtype).requires_grad_(True)
            self.precision = lambda: self.matrix
            self.params = [self.matrix]
        else:
            factor = Factor(d, 0, dtype)
            self.mu.requires_grad_(True)
            self.matrix, self.precision = factor.low, factor.product
            self.params = [self.mu, self.matrix]

    def freeze(self):
        self.frozen = self.precision().detach(), self.mu.detach()

    def terms(self, x):
        p = self.precision()
        y = x - self.mu
        s = -(y @ p)
        return 0.5 * (y * s).sum(-1), s, -torch.diagonal(p)

    def frozen_score(self, x):
        p, mu = self.frozen
        return (mu - x) @ p

    def frozen_log_density(self, x):
        p, mu = self.frozen
        y = x - mu
        return -0.5 * ((y @ p) * y).sum(-1)


class Quartic:
    def __init__(self, d, dtype):
        factor = Factor(d, 0.5 * torch.log(torch.tensor(0.5)), dtype)
        self.matrix, self.minus_theta = factor.low, factor.product
        self.params = [self.matrix]

    def freeze(self):
        self.frozen = -self.minus_theta().detach()

    def terms(self, x):
        theta, z = -self.minus_theta(), x * x
        tz = z @ theta
        return (z * tz).sum(-1), 4 * x * tz, 4 * tz + 8 * torch.diagonal(theta) * z

    def frozen_score(self, x):
        return 4 * x * ((x * x) @ self.frozen)

    def frozen_log_density(self, x):
        z = x * x
        return (z * (z @ self.frozen)).sum(-1)


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


class Rows:
    """Table rows that a step of the model handles together."""

    def __init__(self, x0, mask, closed_form):
        self.x0, self.mask = x0, mask
        self.missing = 1 - mask
        self.count = self.missing.sum(-1)
        if closed_form:  # identity blocks pad all conditional precisions to one size
            n, d = mask.shape
            self.order = torch.argsort(mask, 1)[:, :max(1, int(self.count.max()))]  # missing columns first
            missing = torch.gather(self.missing, 1, self.order)
            self.both_missing = missing[:, :, None] * missing[:, None]
            self.missing_observed = missing[:, :, None] * mask[:, None]
            self.identity = torch.diag_embed(1 - missing)
            self.seen = torch.diag(mask.sum(0))
            self.places = self.order[:, :, None].expand(-1, -1, d)
            self.zeros = torch.zeros(n, d, d, dtype=mask.dtype)


class Run:
    def __init__(self, experiment, method, d, n, batch, r, dtype, seed, x, mask, penalty, score, chunk):
        """x (zero where missing) and mask are lists of n*d; penalty is lambda*d of the proximal step."""
        if method not in METHODS or (experiment, method) == ("quartic", "exact"):
            raise ValueError(f"no method {method} for {experiment}")
        torch.manual_seed(seed)
        self.dtype = getattr(torch, dtype)
        tensor = lambda v: torch.tensor(v, dtype=self.dtype).view(n, d)
        x0, mask = tensor(x), tensor(mask)
        self.experiment, self.method, self.score = experiment, method, score
        self.n, self.batch, self.chunk, self.penalty = n, batch, chunk, penalty
        self.r = r if method in ("var", "variw", "iw", "em") else 1
        self.all = Rows(x0, mask, False)
        self.chunks = [Rows(x0[i:i + chunk], mask[i:i + chunk], method == "exact") for i in range(0, n, chunk)]
        self.model = Quartic(d, self.dtype) if experiment == "quartic" else Gaussian(d, experiment == "star", self.dtype)
        if experiment == "star":  # below the stability limit
            pairs = (x0.T @ x0) / (mask.T @ mask).clamp(min=1)
            self.rate = min(0.015, 0.25 / torch.linalg.eigvalsh(pairs)[-1].item())
            self.floor = FLOOR * torch.eye(d, dtype=self.dtype)
        else:
            self.optimiser = torch.optim.Adam(self.model.params, lr=0.01)
        if method in ("var", "variw"):
            self.imputer = Imputer(d, self.dtype)
            self.imputer_optimiser = torch.optim.Adam(self.imputer.parameters(), lr=1e-3)
            self.gaps = torch.nonzero(self.all.count)[:, 0]
            self.batches = iter(())

    def next_batch(self):
        for rows in self.batches:
            return rows
        self.batches = iter(self.gaps[torch.randperm(len(self.gaps))].split(self.batch))
        return next(self.batches)

    def imputer_gradient(self, rows, eps=None):
        x0, missing, count = self.all.x0[rows], self.all.missing[rows], self.all.count[rows]
        self.imputer_optimiser.zero_grad(set_to_none=True)
        mean, log_sd = self.imputer(x0)
        draw = mean + torch.exp(log_sd) * (torch.randn_like(mean) if eps is None else eps)
        log_q = -(log_sd * count).mean()  # the term in eps has no gradient
        if self.score == "fed":
            with torch.no_grad():
                s = missing * self.model.frozen_score(torch.addcmul(x0, missing, draw))
            loss = log_q - (s * draw).sum() / len(draw)
        else:
            loss = log_q - self.model.frozen_log_density(torch.addcmul(x0, missing, draw)).mean()
        loss.backward()

    @torch.no_grad()
    def complete(self, rows, eps=None):
        """Rows (b, r, d) with their gaps filled, and log p' of the draws, up to a constant of the row."""
        if self.r == 1:
            return rows.x0[:, None], None
        b, d = rows.x0.shape
        if eps is None:
            eps = torch.randn(b, self.r, d, dtype=self.dtype)
        missing = rows.missing[:, None]
        log_p = None
        if self.method != "var":
            log_p = -0.5 * (missing * eps**2).sum(-1)
        if self.method in ("var", "variw"):
            mean, log_sd = self.imputer(rows.x0)
            eps = torch.add(mean[:, None], eps, alpha=log_sd.exp().item())
        return torch.addcmul(rows.x0[:, None], missing, eps), log_p

    def loss(self, rows, eps=None):
        x, log_p = self.complete(rows, eps)
        log_density, s, diagonal = self.model.terms(x)
        mask = rows.mask[:, None]
        diagonal = 2 * (mask * diagonal).sum(-1)
        if self.method in ("zeroed", "full"):
            return (diagonal + (mask * s * s).sum(-1)).sum() / self.n
        with torch.no_grad():
            if self.method == "var":
                w = torch.full_like(log_density, 1 / self.r)
            else:
                w = torch.softmax(log_density - log_p, 1)
        if self.method == "em":
            return (w * (diagonal + (mask * s * s).sum(-1))).sum() / self.n
        with torch.no_grad():
            mean = (w[:, :, None] * s).sum(1, keepdim=True)
        h = diagonal + 2 * (mask * (s - mean) * s).sum(-1)
        with torch.no_grad():
            centred = w * (h - (w * h).sum(1, keepdim=True))
        return (w * h + centred * log_density).sum() / self.n

    def exact_gradient(self, rows, p):
        """The closed form's gradients by P and mu, with W = [I; -K] and K = P_mm^-1 P_mo:
        -2 WW' + y x' + x y' and -2 (P y)_o, x and y the completed residual and score."""
        at = rows.order
        low = torch.linalg.cholesky(torch.addcmul(rows.identity, rows.both_missing, p[at[:, :, None], at[:, None]]))
        k = torch.cholesky_solve(rows.missing_observed * p[at], low)
        k = rows.zeros.scatter(1, rows.places, k)
        fill = lambda v: v - (k @ v[:, :, None])[:, :, 0]
        x = fill(rows.mask * (rows.x0 - self.model.mu))
        y = fill(rows.mask * (x @ p))
        ks, xy = k.sum(0), x.T @ y
        kk = torch.tensordot(k, k, ([0, 2], [0, 2]))
        return (xy + xy.T - 2 * (rows.seen - ks - ks.T + kk)) / self.n, -2 * (rows.mask * (y @ p)).sum(0) / self.n

    def model_gradient(self, eps=None):
        """Leaves the gradients in the parameters' .grad."""
        for q in self.model.params:
            q.grad = None
        noise = [None] * len(self.chunks) if eps is None else eps.split(self.chunk)
        for rows, eps in zip(self.chunks, noise):
            if self.method != "exact":
                self.loss(rows, eps).backward()
                continue
            p = self.model.precision()
            with torch.no_grad():
                by_p, by_mu = self.exact_gradient(rows, p)
            p.backward(by_p)
            if self.model.mu.requires_grad:
                self.model.mu.backward(by_mu)

    def iteration(self):
        if self.method in ("var", "variw"):
            self.model.freeze()
            for _ in range(IMPUTER_STEPS):
                self.imputer_gradient(self.next_batch())
                self.imputer_optimiser.step()
        self.model_gradient()
        if self.experiment == "star":
            self.proximal_step()
        else:
            self.optimiser.step()

    @torch.no_grad()
    def proximal_step(self):
        p, g = self.model.matrix, self.pair_gradient()
        p -= self.rate * g
        diagonal = torch.diagonal(p).clone()
        p.copy_(torch.nn.functional.softshrink(p, self.rate * self.penalty))
        torch.diagonal(p).copy_(diagonal)
        if torch.linalg.cholesky_ex(p - self.floor).info:
            torch.diagonal(p).clamp_(min=2 * FLOOR)
            diagonal = torch.diagonal(p).clone()
            e = 1 / torch.sqrt(diagonal - FLOOR)
            off = p - torch.diag(diagonal)
            least = torch.linalg.eigvalsh(e[:, None] * off * e)[0]
            p.copy_(off * (-1 / least).clamp(max=1) if least < 0 else off)
            torch.diagonal(p).copy_(diagonal)

    def pair_gradient(self):
        """By the one parameter of each pair P_jk = P_kj."""
        g = self.model.matrix.grad + self.model.matrix.grad.T
        torch.diagonal(g).mul_(0.5)
        return g

    def time(self, seconds):
        n, start = 0, time.perf_counter()
        while n < 1 or time.perf_counter() - start < seconds:
            self.iteration()
            n += 1
        return {"seconds_per_iteration": (time.perf_counter() - start) / n, "iterations": n}

    def path(self, penalties):
        start = time.perf_counter()
        for self.penalty in penalties:
            self.iteration()
        return {"seconds_per_iteration": (time.perf_counter() - start) / len(penalties), "iterations": len(penalties)}

    def parameters(self, _):
        return {"matrix": self.model.matrix.detach().flatten().tolist()}

    def check(self, at):
        """Gradients of one step of each kind at given parameters and draws: "matrix", "mu",
        "imputer" (weights, inputs by outputs, and biases by layer, then log sd),
        "imputer_noise", "noise"."""
        tensor = lambda v: torch.tensor(v, dtype=self.dtype)
        b, d = self.all.x0.shape
        out = {}
        with torch.no_grad():
            self.model.matrix.copy_(tensor(at["matrix"]).view(d, d))
            if self.experiment != "quartic":
                self.model.mu.copy_(tensor(at["mu"]))
            if self.method in ("var", "variw"):
                for q, v in zip(self.imputer.net.parameters(), at["imputer"]):
                    q.copy_(tensor(v).view(q.t().shape).t())
                self.imputer.log_sd.copy_(tensor(at["imputer"][-1])[0])
        if self.method in ("var", "variw"):
            self.model.freeze()
            self.imputer_gradient(torch.arange(b), tensor(at["imputer_noise"]).view(b, d))
            out["imputer"] = [q.grad.t().flatten().tolist() for q in self.imputer.net.parameters()] + [[self.imputer.log_sd.grad.item()]]
        self.model_gradient(tensor(at["noise"]).view(b, -1, d))
        out["matrix"] = (self.pair_gradient() if self.experiment == "star" else self.model.matrix.grad).flatten().tolist()
        if self.experiment == "normal":
            out["mu"] = self.model.mu.grad.tolist()
        return out


def serve():
    def reply(value):
        print(json.dumps(value), flush=True)

    reply({"name": "PyTorch " + torch.__version__})
    run = None
    for line in sys.stdin:
        (what, value), = json.loads(line).items()
        try:
            if what == "start":
                run = None  # frees the memory first
                run = Run(**value)
                reply({})
            else:
                reply({"time": Run.time, "path": Run.path, "parameters": Run.parameters, "check": Run.check}[what](run, value))
        except Exception as e:
            reply({"error": repr(e)})


if __name__ == "__main__":
    serve()
