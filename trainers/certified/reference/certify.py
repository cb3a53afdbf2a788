"""The first route: certified optima of losses on the tables of this folder, by mpmath with 100 digits.

    python3 certify.py > certified.json

Each case is solved by another route than the program's: linear systems, closed forms, Newton's
method on the gradient in means and covariances, descents by coordinates and proximal gradient
steps to their end. The second route, confirm.gp, is of another language and other algorithms.
README.md has the losses' formulas. Numbers are those of the float64 nearest to what a table
says, as every program reads them; 20 digits are printed.
"""

import csv
import json
import platform

import mpmath
from mpmath import inverse, matrix, mp, mpf, nstr, sqrt

mp.dps = 100
END = mpf(10) ** -45  # of descents: no number moves by more


def read(name, weights=None):
    """Rows, None where a cell is missing, and their weights, of mean 1."""
    with open(name + ".csv") as f:
        lines = list(csv.reader(f))
    at = lines[0].index(weights) if weights else None
    rows = [[None if cell == "NA" else mpf(float(cell)) for j, cell in enumerate(line) if j != at] for line in lines[1:]]
    w = [mpf(float(line[at])) if weights else mpf(1) for line in lines[1:]]
    return rows, [v * len(w) / sum(w) for v in w]


def packed(d):
    return [(j, k) for j in range(d) for k in range(j, d)]


def symmetric(d, values):
    out = matrix(d)
    for (j, k), v in zip(packed(d), values):
        out[j, k] = out[k, j] = v
    return out


def trace(a):
    return sum(a[j, j] for j in range(a.rows))


def short(v):
    return nstr(v, 20, min_fixed=-30, max_fixed=30)


def condition(precision):
    """That of the correlations: the largest eigenvalue over the smallest."""
    c = inverse(precision)
    e = mp.eigsy(matrix([[c[j, k] / sqrt(c[j, j] * c[k, k]) for k in range(c.rows)] for j in range(c.rows)]), eigvals_only=True)
    return float(nstr(max(e) / min(e), 3))


def result(loss, mean, precision):
    """loss is the least value, None for an equation that is the gradient of none."""
    out = {"condition": condition(precision)}
    if loss is not None:
        out["loss"] = short(loss)
    return out | {"mean": [short(v) for v in mean], "precision": [short(precision[j, k]) for j, k in packed(len(mean))]}


def standardised(rows, weights):
    """Columns less their means, over their deviations with divisor n, of the cells that are there."""
    d, mean, deviation = len(rows[0]), [], []
    for j in range(d):
        seen = [(w, r[j]) for w, r in zip(weights, rows) if r[j] is not None]
        n = sum(w for w, _ in seen)
        mean.append(sum(w * v for w, v in seen) / n)
        deviation.append(sqrt(sum(w * (v - mean[j]) ** 2 for w, v in seen) / n))
    return mean, deviation, [[None if v is None else (v - m) / s for v, m, s in zip(r, mean, deviation)] for r in rows]


def in_units(p, deviation):
    d = len(deviation)
    return matrix([[p[j, k] / deviation[j] / deviation[k] for k in range(d)] for j in range(d)])


class Pattern:
    """Rows that have the same cells: columns, weight, and sums of x and of x times its transpose."""

    def __init__(self, seen):
        self.seen, self.weight, self.first, self.second = seen, mpf(0), matrix(len(seen), 1), matrix(len(seen))

    def add(self, weight, x):
        self.weight += weight
        self.first += weight * x
        self.second += weight * x * x.T

    def about(self, mean):
        """Sums of r and of r times its transpose, r = x - mean."""
        m = matrix([mean[j] for j in self.seen])
        first = self.first - self.weight * m
        return first, self.second - m * self.first.T - self.first * m.T + self.weight * m * m.T

    def block(self, a):
        return matrix([[a[j, k] for k in self.seen] for j in self.seen])


def patterns(rows, weights):
    of = {}
    for w, r in zip(weights, rows):
        seen = tuple(j for j, v in enumerate(r) if v is not None)
        of.setdefault(seen, Pattern(seen)).add(w, matrix([r[j] for j in seen]))
    return list(of.values())


class Likelihood:
    """-log likelihood of the observed cells, and its derivatives by their precision q and mean."""

    def loss(self, q, weight, second):
        return (trace(q * second) + weight * (q.rows * mp.log(2 * mp.pi) - mp.log(mp.det(q)))) / 2

    def by_precision(self, q, weight, second):
        return (second - weight * inverse(q)) / 2

    def by_mean(self, q, first):
        return -(q * first)


class Marginal:
    """The marginal loss -2 tr q + |q r|^2 of the observed cells."""

    def loss(self, q, weight, second):
        return trace(q * q * second) - 2 * weight * trace(q)

    def by_precision(self, q, weight, second):
        return q * second + second * q - 2 * weight * mp.eye(q.rows)

    def by_mean(self, q, first):
        return -2 * (q * (q * first))


def least(rows, weights, of):
    """Where a loss of mean and covariance is least: damped Newton steps.

    A covariance S has dq = -q dS q.
    """
    d, n, groups, at = len(rows[0]), len(rows), patterns(rows, weights), packed(len(rows[0]))

    def total(theta):
        covariance = symmetric(d, theta[d:])
        try:
            mp.cholesky(covariance)
        except ValueError:
            return mp.inf
        return sum(of.loss(inverse(p.block(covariance)), p.weight, p.about(theta[:d])[1]) for p in groups) / n

    def gradient(theta):
        covariance = symmetric(d, theta[d:])
        by_mean, out = [mpf(0)] * d, matrix(d)
        for p in groups:
            q = inverse(p.block(covariance))
            first, second = p.about(theta[:d])
            by = -q * of.by_precision(q, p.weight, second) * q
            m = of.by_mean(q, first)
            for a, j in enumerate(p.seen):
                by_mean[j] += m[a] / n
                for b, k in enumerate(p.seen):
                    out[j, k] += by[a, b] / n
        return by_mean + [out[j, k] + (out[k, j] if j != k else 0) for j, k in at]

    def hessian(theta):
        """By central differences, in many more digits than are wanted."""
        columns = []
        for i in range(len(theta)):
            step = mpf(10) ** -35 * scale[i]
            up, down = list(theta), list(theta)
            up[i] += step
            down[i] -= step
            columns.append([(a - b) / (2 * step) for a, b in zip(gradient(up), gradient(down))])
        return matrix(columns).T

    theta, damping = start(rows, weights), mpf(0)
    deviation = [sqrt(theta[d + at.index((j, j))]) for j in range(d)]
    scale = deviation + [deviation[j] * deviation[k] for j, k in at]
    for _ in range(300):
        slope = matrix(gradient(theta))
        second, before = hessian(theta), total(theta)
        move = mp.lu_solve(second, -slope)
        if damping == 0 and max(abs(m / s) for m, s in zip(move, scale)) < END:
            return result(before, theta[:d], inverse(symmetric(d, theta[d:])))
        while True:
            if damping > 0:
                move = mp.lu_solve(second + damping * mp.diag([max(abs(second[i, i]), scale[i] ** -2 / 10**6) for i in range(len(theta))]), -slope)
            after = [t + m for t, m in zip(theta, move)]
            if total(after) <= before + mpf(10) ** -80 * abs(before) and sum(a * b for a, b in zip(move, slope)) < 0:
                theta, damping = after, damping / 10 if damping > mpf(10) ** -6 else mpf(0)
                break
            damping = max(10 * damping, mpf(10) ** -3)
            if damping > mpf(10) ** 12:
                raise RuntimeError("Newton's method found no way down")
    raise RuntimeError("Newton's method did not end")


def completed(rows, weights, mean, covariance):
    """Means of x and of x times its transpose, over rows whose gaps are filled given the others."""
    d, n = len(mean), len(rows)
    first, second = matrix(d, 1), matrix(d)
    for p in patterns(rows, weights):
        m = [j for j in range(d) if j not in p.seen]
        along = matrix(d, len(p.seen))  # regressions of all columns on those that are there
        rest = matrix(d)
        for a, j in enumerate(p.seen):
            along[j, a] = 1
        if m:
            c = matrix([[covariance[j, k] for k in p.seen] for j in m])
            b = c * inverse(p.block(covariance))
            left = matrix([[covariance[j, k] for k in m] for j in m]) - b * c.T
            for a, j in enumerate(m):
                for i in range(len(p.seen)):
                    along[j, i] = b[a, i]
                for i, k in enumerate(m):
                    rest[j, k] = left[a, i]
        r, rr = p.about(mean)
        mu = matrix(mean)
        shift = along * r
        first += (p.weight * mu + shift) / n
        second += (along * rr * along.T + p.weight * rest + mu * shift.T + shift * mu.T + p.weight * mu * mu.T) / n
    return list(first), second


def start(rows, weights):
    """Means and covariances by turns of EM, to some six digits."""
    d = len(rows[0])
    mean, deviation, _ = standardised(rows, weights)
    covariance = mp.diag([v**2 for v in deviation])
    before = None
    for _ in range(3000):
        precision = inverse(covariance)
        if before is not None and max(abs(precision[j, j] / before[j, j] - 1) for j in range(d)) < mpf(10) ** -6:
            break
        before = precision
        mean, second = completed(rows, weights, mean, covariance)
        covariance = second - matrix(mean) * matrix(mean).T
    return mean + [covariance[j, k] for j, k in packed(d)]


def likelihood(rows, weights):
    return least(rows, weights, Likelihood())


def marginal(rows, weights):
    return least(rows, weights, Marginal())


def complete(rows, weights):
    """Score matching of complete rows: the inverse of the covariances, where the loss is -tr P."""
    mean, deviation, _ = standardised(rows, weights)
    d, n = len(mean), len(rows)
    covariance = matrix([[sum(w * (r[j] - mean[j]) * (r[k] - mean[k]) for w, r in zip(weights, rows)) / n for k in range(d)] for j in range(d)])
    precision = inverse(covariance)
    return result(-trace(precision), mean, precision)


def quadratic(m, v):
    """The least value of t'mt - 2v't and where it is."""
    theta = mp.lu_solve(m, v)
    return -(v.T * theta)[0], theta


def linear(rows, weights, bounds=None, half=None):
    """Score matching with s = eta - P x at the observed cells, gaps taken for 0.

    A row's loss is sum over its observed j of g (s^2 - 2 P_jj) + 2 g' s.
    """
    d, n = len(rows[0]), len(rows)
    at = packed(d)
    m, v = matrix(d + len(at)), matrix(d + len(at), 1)
    for w, r in zip(weights, rows):
        x = [mpf(0) if c is None else c for c in r]
        for j in range(d):
            if r[j] is None:
                continue
            g, slope = mpf(1), mpf(0)
            lower, upper = bounds[j] if bounds else (None, None)
            if lower is not None and x[j] - mpf(lower) < g:
                g, slope = x[j] - mpf(lower), mpf(1)
            if upper is not None and mpf(upper) - x[j] < g:
                g, slope = mpf(upper) - x[j], mpf(-1)
            for h in half or []:
                size = sqrt(sum(mpf(a) ** 2 for a in h["a"]))
                distance = (mpf(h["b"]) - sum(a * c for a, c in zip(h["a"], x))) / size
                if h["a"][j] != 0 and distance < 1:
                    g, slope = g * distance, slope * distance - g * h["a"][j] / size
            z = matrix(d + len(at), 1)  # s_j = z . theta
            z[j] = 1
            for i, (a, b) in enumerate(at):
                if a == j:
                    z[d + i] = -x[b]
                elif b == j:
                    z[d + i] = -x[a]
            m += w * g * z * z.T / n
            v -= w * slope * z / n
            v[d + at.index((j, j))] += w * g / n
    loss, theta = quadratic(m, v)
    precision = symmetric(d, theta[d:])
    return result(loss, mp.lu_solve(precision, theta[:d]), precision)


def quartic(rows, weights):
    """Score matching of log q = sum over j, k of theta_jk x_j^2 x_k^2 at the observed cells, gaps taken for 0."""
    d, n = len(rows[0]), len(rows)
    at = packed(d)
    m, v = matrix(len(at)), matrix(len(at), 1)
    for w, r in zip(weights, rows):
        x = [mpf(0) if c is None else c for c in r]
        for j in range(d):
            if r[j] is None:
                continue
            z = matrix(len(at), 1)  # s_j = z . theta
            slope = matrix(len(at), 1)  # its derivative by x_j
            for i, (a, b) in enumerate(at):
                if j in (a, b):
                    other = b if a == j else a
                    z[i] = 4 * x[j] * x[other] ** 2
                    slope[i] = 12 * x[j] ** 2 if a == b else 4 * x[other] ** 2
            m += w * z * z.T / n
            v -= w * slope / n
    loss, theta = quadratic(m, v)
    e = mp.eigsy(-symmetric(d, theta), eigvals_only=True)
    return {"condition": float(nstr(max(e) / min(e), 3)), "loss": short(loss), "theta": [short(t) for t in theta]}


def shrunk(v, by):
    return v - by if v > by else v + by if v < -by else mpf(0)


def lasso(s, penalty, p=None):
    """The P that minimises (tr(P S P) - 2 tr P)/d + penalty times the sum over j<k of |P_jk|: by coordinates."""
    d = s.rows
    p, by = mp.eye(d) if p is None else p.copy(), mpf(penalty) * d / 2
    for _ in range(20000):
        moved = mpf(0)
        for j, k in packed(d):
            if j == k:
                move = (1 - sum(p[j, i] * s[i, j] for i in range(d))) / s[j, j]
                p[j, j] += move
            else:
                slope = sum(p[j, i] * s[i, k] + p[k, i] * s[i, j] for i in range(d))
                curvature = s[j, j] + s[k, k]
                value = shrunk(p[j, k] * curvature - slope, by) / curvature
                move = value - p[j, k]
                p[j, k] = p[k, j] = value
            moved = max(moved, abs(move))
        if moved < END:
            return p
    raise RuntimeError("the descent did not end")


def size(p, penalty):
    return mpf(penalty) * sum(abs(p[j, k]) for j, k in packed(p.rows) if j != k)


def moments_network(s, penalty, mean, deviation):
    p = lasso(s, penalty)
    loss = (trace(p * s * p) - 2 * trace(p)) / s.rows + size(p, penalty)
    return result(loss, mean, in_units(p, deviation))


def full_network(rows, weights, penalty):
    mean, deviation, z = standardised(rows, weights)
    d, n = len(mean), len(rows)
    s = matrix([[sum(w * r[j] * r[k] for w, r in zip(weights, z)) / n for k in range(d)] for j in range(d)])
    return moments_network(s, penalty, mean, deviation)


def pairwise_network(rows, weights, penalty):
    """By moments of the rows that have both columns, shrunk by the share of gaps' noise or until semidefinite."""
    mean, deviation, z = standardised(rows, weights)
    d, n = len(mean), len(rows)
    s, noise, square = mp.eye(d), mpf(0), mpf(0)
    for j, k in packed(d):
        if j != k:
            both = [r[j] * r[k] for r in z if r[j] is not None and r[k] is not None]
            s[j, k] = s[k, j] = sum(both) / len(both)
            noise += (1 - s[j, k] ** 2) ** 2 * (1 / mpf(len(both)) - 1 / mpf(n))
            square += s[j, k] ** 2
    lowest = min(mp.eigsy(s, eigvals_only=True))
    alpha = max(min(mpf("0.95"), noise / square), max(mpf(0), -lowest) / (1 - lowest))
    s = (1 - alpha) * s + alpha * mp.eye(d)
    return moments_network(s, penalty, mean, deviation)


def em_network(rows, weights, penalty):
    """The P that minimises the penalised loss of the moments about the mean which it fills the gaps to itself."""
    centre, deviation, z = standardised(rows, weights)
    d = len(centre)
    mean, p = [mpf(0)] * d, mp.eye(d)
    for _ in range(5000):
        old, old_mean = p, mean
        mean, second = completed(z, weights, mean, inverse(p))
        about = second - matrix(mean) * matrix(mean).T
        p = lasso(about, penalty, p)
        if max(abs(p[j, k] - old[j, k]) for j, k in packed(d)) < END and max(abs(a - b) for a, b in zip(mean, old_mean)) < END:
            return result(None, [c + s * m for c, s, m in zip(centre, deviation, mean)], in_units(p, deviation))
    raise RuntimeError("the turns did not end")


def exact_network(rows, weights, penalty):
    """The marginal loss over d with the penalty, the mean held at the observed ones: by proximal gradient steps."""
    mean, deviation, z = standardised(rows, weights)
    d, n, groups, of = len(mean), len(rows), patterns(z, weights), Marginal()

    def value(p):
        covariance = inverse(p)
        return sum(of.loss(inverse(g.block(covariance)), g.weight, g.second) for g in groups) / n / d

    def gradient(p):
        covariance, by = inverse(p), matrix(d)
        for g in groups:
            q = inverse(g.block(covariance))
            here = q * of.by_precision(q, g.weight, g.second) * q
            for a, j in enumerate(g.seen):
                for b, k in enumerate(g.seen):
                    by[j, k] += here[a, b] / n / d
        return covariance * by * covariance

    p, step = mp.eye(d), mpf(1)
    for _ in range(20000):
        by = gradient(p)
        while True:
            # in the norm sum over j, k of P_jk^2 a pair counts twice, and its share of the penalty is halved
            after = matrix([[p[j, k] - step * by[j, k] if j == k else shrunk(p[j, k] - step * by[j, k], step * mpf(penalty) / 2) for k in range(d)] for j in range(d)])
            move = after - p
            try:
                mp.cholesky(after)
                squares = sum(m**2 for m in move)
                if squares < mpf(10) ** -40 or value(after) <= value(p) + sum(a * b for a, b in zip(by, move)) + squares / (2 * step):
                    break
            except ValueError:
                pass
            step /= 2
        p = after
        if max(abs(m) for m in move) < END:
            return result(value(p) + size(p, penalty), mean, in_units(p, deviation))
    raise RuntimeError("the steps did not end")


positive, box = [[0, None], [0, None]], [[-0.5, None], [-1, 1.2]]
half = [{"a": [3, 4], "b": 5}]
cases = [
    ({"table": "plain", "method": "full"}, complete),
    ({"table": "far", "method": "full"}, complete),
    ({"table": "near-singular", "method": "full"}, complete),
    ({"table": "gaps", "method": "em-exact"}, likelihood),
    ({"table": "gaps", "method": "exact"}, marginal),
    ({"table": "gaps", "method": "zeroed"}, linear),
    ({"table": "monotone", "method": "em-exact"}, likelihood),
    ({"table": "monotone", "method": "exact"}, marginal),
    ({"table": "mar", "method": "em-exact"}, likelihood),
    ({"table": "mar", "method": "exact"}, marginal),
    ({"table": "near-singular-gaps", "method": "em-exact"}, likelihood),
    ({"table": "collinear-gaps", "method": "em-exact"}, likelihood),
    ({"table": "collinear-gaps", "method": "exact"}, marginal),
    ({"table": "half-missing", "method": "em-exact"}, likelihood),
    ({"table": "half-missing", "method": "exact"}, marginal),
    ({"table": "few-pairs", "method": "em-exact"}, likelihood),
    ({"table": "few-pairs", "method": "exact"}, marginal),
    ({"table": "blocks", "method": "em-exact"}, likelihood),
    ({"table": "blocks", "method": "exact"}, marginal),
    ({"table": "six", "method": "em-exact"}, likelihood),
    ({"table": "six", "method": "exact"}, marginal),
    ({"table": "far-gaps", "method": "em-exact"}, likelihood),
    ({"table": "far-gaps", "method": "exact"}, marginal),
    ({"table": "scales", "method": "em-exact"}, likelihood),
    ({"table": "weighted", "method": "em-exact", "weights": "w"}, likelihood),
    ({"table": "weighted", "method": "exact", "weights": "w"}, marginal),
    ({"table": "weighted", "method": "zeroed", "weights": "w"}, linear),
    ({"table": "positive", "method": "full", "bounds": positive}, lambda *of: linear(*of, bounds=positive)),
    ({"table": "box", "method": "full", "bounds": box}, lambda *of: linear(*of, bounds=box)),
    ({"table": "box-gaps", "method": "zeroed", "bounds": box}, lambda *of: linear(*of, bounds=box)),
    ({"table": "half-space", "method": "full", "half_spaces": half}, lambda *of: linear(*of, half=half)),
    ({"table": "square", "method": "full", "model": "quartic"}, quartic),
    ({"table": "square-gaps", "method": "zeroed", "model": "quartic"}, quartic),
    ({"table": "path", "method": "full", "lambda": 0.05}, lambda *of: full_network(*of, 0.05)),
    ({"table": "path-gaps", "method": "em-exact", "lambda": 0.1}, lambda *of: em_network(*of, 0.1)),
    ({"table": "path-gaps", "method": "exact", "lambda": 0.1}, lambda *of: exact_network(*of, 0.1)),
    ({"table": "path-gaps", "method": "pairwise", "lambda": 0.1}, lambda *of: pairwise_network(*of, 0.1)),
]

if __name__ == "__main__":
    import sys
    import time

    found = []
    for case, solve in cases:
        if len(sys.argv) > 1 and case["table"] not in sys.argv[1:]:
            continue
        before = time.time()
        found.append(case | solve(*read(case["table"], case.get("weights"))))
        print(case, "%.1f s" % (time.time() - before), file=sys.stderr, flush=True)
    tool = "Python %s, mpmath %s, %d digits" % (platform.python_version(), mpmath.__version__, mp.dps)
    print(json.dumps({"tool": tool, "cases": found}, indent=1))
