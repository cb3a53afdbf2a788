"""Certified optima of losses on the tables of this folder, by mpmath with 60 digits.

    python3 certify.py > certified.json

Each case is solved by another route than the program's: linear systems, closed forms, or
Newton's method on the gradient in the covariance, which the program does not use. Numbers
are those of the float64 nearest to what a table says, as every program reads them. What is
printed is right to the digits shown: the gradient's largest element is below 1e-40.
"""

import csv
import json

from mpmath import mp, mpf, matrix, inverse, sqrt, nstr

mp.dps = 60


def read(name):
    with open(name + ".csv") as f:
        lines = list(csv.reader(f))[1:]
    return [[None if cell == "NA" else mpf(float(cell)) for cell in line] for line in lines]


def packed(d):
    return [(j, k) for j in range(d) for k in range(j, d)]


def moments(rows):
    """Means and covariances, divisor n, of complete rows."""
    n, d = len(rows), len(rows[0])
    mean = [sum(r[j] for r in rows) / n for j in range(d)]
    return mean, matrix([[sum((r[j] - mean[j]) * (r[k] - mean[k]) for r in rows) / n for k in range(d)] for j in range(d)])


def result(mean, precision):
    d = len(mean)
    return {
        "mean": [nstr(v, 20) for v in mean],
        "precision": [nstr(precision[j, k], 20) for j, k in packed(d)],
    }


def complete(rows):
    """Score matching of complete rows: the inverse of the covariances."""
    mean, covariance = moments(rows)
    return result(mean, inverse(covariance))


def patterns(rows):
    of = {}
    for r in rows:
        seen = tuple(j for j, v in enumerate(r) if v is not None)
        of.setdefault(seen, []).append([r[j] for j in seen])
    return of


def least(rows, loss, by_precision, by_mean):
    """Where a loss of (mean, covariance), summed over the rows, is least: damped Newton steps.

    loss(q, r) is a row's, q the precision of its observed cells, r their distance to the
    mean; by_precision(q, r) and by_mean(q, r) are its derivatives. A covariance S has
    dq = -q dS q.
    """
    d, of, at = len(rows[0]), patterns(rows), packed(len(rows[0]))

    def unpacked(theta):
        covariance = matrix(d)
        for (j, k), v in zip(at, theta[d:]):
            covariance[j, k] = covariance[k, j] = v
        return theta[:d], covariance

    def total_loss(theta):
        mean, covariance = unpacked(theta)
        try:
            mp.cholesky(covariance)
        except ValueError:
            return mp.inf
        total = mpf(0)
        for seen, values in of.items():
            q = inverse(matrix([[covariance[j, k] for k in seen] for j in seen]))
            for x in values:
                total += loss(q, matrix([x[i] - mean[j] for i, j in enumerate(seen)]))
        return total

    def gradient(theta):
        mean, covariance = unpacked(theta)
        out_mean, out = [mpf(0)] * d, matrix(d)
        for seen, values in of.items():
            m = len(seen)
            q = inverse(matrix([[covariance[j, k] for k in seen] for j in seen]))
            total = matrix(m)
            for x in values:
                r = matrix([x[i] - mean[j] for i, j in enumerate(seen)])
                total += by_precision(q, r)
                for j, v in zip(seen, by_mean(q, r)):
                    out_mean[j] += v
            total = -q * total * q
            for a, j in enumerate(seen):
                for b, k in enumerate(seen):
                    out[j, k] += total[a, b]
        return out_mean + [out[j, k] + (out[k, j] if j != k else 0) for j, k in at]

    def hessian(theta):
        """By central differences, in many more digits than are wanted."""
        columns = []
        for i in range(len(theta)):
            step = mpf(10) ** -20 * max(1, abs(theta[i]))
            up, down = list(theta), list(theta)
            up[i] += step
            down[i] -= step
            columns.append([(a - b) / (2 * step) for a, b in zip(gradient(up), gradient(down))])
        return matrix(columns).T

    theta, damping = start(rows, at), mpf(0)
    for _ in range(300):
        slope = matrix(gradient(theta))
        if max(abs(v) for v in slope) < mpf(10) ** -40:
            mean, covariance = unpacked(theta)
            return result(mean, inverse(covariance))
        second, before = hessian(theta), total_loss(theta)
        while True:
            damped = second + damping * mp.diag([max(abs(second[i, i]), mpf(10) ** -6) for i in range(len(theta))])
            move = mp.lu_solve(damped, -slope)
            after = [t + m for t, m in zip(theta, move)]
            if total_loss(after) <= before + mpf(10) ** -50 * abs(before) and sum(a * b for a, b in zip(move, slope)) < 0:
                theta, damping = after, damping / 10 if damping > mpf(10) ** -6 else mpf(0)
                break
            damping = max(10 * damping, mpf(10) ** -3)
            if damping > mpf(10) ** 12:
                raise RuntimeError("Newton's method found no way down")
    raise RuntimeError("Newton's method did not end")


def start(rows, at):
    """Means, and covariances, by turns of EM for the likelihood, to some six digits."""
    d = len(rows[0])
    seen = [[r[j] for r in rows if r[j] is not None] for j in range(d)]
    mean = [sum(x) / len(x) for x in seen]
    covariance = matrix(d)
    for j in range(d):
        covariance[j, j] = sum((v - mean[j]) ** 2 for v in seen[j]) / len(seen[j])
    before = None
    for _ in range(2000):
        precision = inverse(covariance)
        if before is not None and max(abs(precision[j, j] / before[j, j] - 1) for j in range(d)) < mpf(10) ** -7:
            break
        before = precision
        first, second = [mpf(0)] * d, matrix(d)
        for r in rows:
            o = [j for j in range(d) if r[j] is not None]
            m = [j for j in range(d) if r[j] is None]
            full, rest = [v if v is not None else mpf(0) for v in r], matrix(d)
            if m:
                s = inverse(matrix([[covariance[j, k] for k in o] for j in o]))
                c = matrix([[covariance[j, k] for k in o] for j in m])
                fill = c * s * matrix([r[j] - mean[j] for j in o])
                left = matrix([[covariance[j, k] for k in m] for j in m]) - c * s * c.T
                for a, j in enumerate(m):
                    full[j] = mean[j] + fill[a]
                    for b, k in enumerate(m):
                        rest[j, k] = left[a, b]
            for j in range(d):
                first[j] += full[j]
                for k in range(d):
                    second[j, k] += full[j] * full[k] + rest[j, k]
        n = len(rows)
        mean = [v / n for v in first]
        covariance = matrix([[second[j, k] / n - mean[j] * mean[k] for k in range(d)] for j in range(d)])
    return mean + [covariance[j, k] for j, k in at]


def likelihood(rows):
    """-log likelihood of the observed cells: its least value."""
    return least(
        rows,
        lambda q, r: ((r.T * q * r)[0] - mp.log(mp.det(q))) / 2,
        lambda q, r: (r * r.T - inverse(q)) / 2,
        lambda q, r: -(q * r),
    )


def marginal(rows):
    """The marginal loss -2 tr Q + |Q r|^2 of the observed cells."""

    def by_precision(q, r):
        out = q * r * r.T
        out = out + out.T
        for j in range(out.rows):
            out[j, j] -= 2
        return out

    def loss(q, r):
        return sum(v * v for v in q * r) - 2 * sum(q[j, j] for j in range(q.rows))

    return least(rows, loss, by_precision, lambda q, r: -2 * (q * (q * r)))


def truncated(rows, bounds):
    """Score matching within bounds: s = eta - P x, g = min(1, distance to the bounds).

    A row's loss is sum over j of g (s^2 - 2 P_jj) + 2 g' s.
    """
    d = len(rows[0])
    at = packed(d)
    m, v = matrix(d + len(at)), matrix(d + len(at), 1)
    for r in rows:
        for j in range(d):
            distance, slope = mpf(10), 0
            lower, upper = bounds[j]
            if lower is not None:
                distance, slope = r[j] - mpf(lower), 1
            if upper is not None and mpf(upper) - r[j] < distance:
                distance, slope = mpf(upper) - r[j], -1
            g, slope = (distance, slope) if distance < 1 else (mpf(1), 0)
            z = matrix(d + len(at), 1)  # s_j = z . theta
            z[j] = 1
            for i, (a, b) in enumerate(at):
                if a == j:
                    z[d + i] = -r[b]
                elif b == j:
                    z[d + i] = -r[a]
            m += g * z * z.T
            v -= slope * z
            v[d + at.index((j, j))] += g
    theta = mp.lu_solve(m, v)
    precision = matrix(d)
    for (j, k), value in zip(at, theta[d:]):
        precision[j, k] = precision[k, j] = value
    return result(mp.lu_solve(precision, theta[:d]), precision)


def quartic(rows):
    """Score matching of log q = sum over j, k of theta_jk x_j^2 x_k^2."""
    d = len(rows[0])
    at = packed(d)
    m, v = matrix(len(at)), matrix(len(at), 1)
    for r in rows:
        for j in range(d):
            z = matrix(len(at), 1)  # s_j = z . theta
            slope = matrix(len(at), 1)  # its derivative by x_j
            for i, (a, b) in enumerate(at):
                if j in (a, b):
                    other = b if a == j else a
                    z[i] = 4 * r[j] * r[other] ** 2
                    slope[i] = 12 * r[j] ** 2 if a == b else 4 * r[other] ** 2
            m += z * z.T
            v -= slope
    theta = mp.lu_solve(m, v)
    return {"theta": [nstr(x, 20) for x in theta]}


def lasso(rows, penalty):
    """tr(P S P) - 2 tr P, over d, and penalty times sum over j<k of |P_jk|; S of standardised columns."""
    mean, covariance = moments(rows)
    d = len(mean)
    deviation = [sqrt(covariance[j, j]) for j in range(d)]
    s = matrix([[covariance[j, k] / deviation[j] / deviation[k] for k in range(d)] for j in range(d)])
    p, by = mp.eye(d), mpf(penalty) * d / 2
    for _ in range(20000):
        moved = mpf(0)
        for j, k in packed(d):
            if j == k:
                move = (1 - sum(p[j, i] * s[i, j] for i in range(d))) / s[j, j]
                p[j, j] += move
            else:
                slope = sum(p[j, i] * s[i, k] + p[k, i] * s[i, j] for i in range(d))
                curvature = s[j, j] + s[k, k]
                z = p[j, k] * curvature - slope
                value = (z - by if z > by else z + by if z < -by else mpf(0)) / curvature
                move = value - p[j, k]
                p[j, k] = p[k, j] = value
            moved = max(moved, abs(move))
        if moved < mpf(10) ** -45:
            break
    else:
        raise RuntimeError("the descent did not end")
    return result(mean, matrix([[p[j, k] / deviation[j] / deviation[k] for k in range(d)] for j in range(d)]))


cases = [
    {"table": "plain", "method": "full", "of": complete},
    {"table": "far", "method": "full", "of": complete},
    {"table": "near-singular", "method": "full", "of": complete},
    {"table": "gaps", "method": "em-exact", "of": likelihood},
    {"table": "gaps", "method": "exact", "of": marginal},
    {"table": "monotone", "method": "em-exact", "of": likelihood},
    {"table": "monotone", "method": "exact", "of": marginal},
    {"table": "near-singular-gaps", "method": "em-exact", "of": likelihood},
    {"table": "half-missing", "method": "em-exact", "of": likelihood},
    {"table": "half-missing", "method": "exact", "of": marginal},
    {"table": "positive", "method": "full", "bounds": [[0, None], [0, None]], "of": lambda rows: truncated(rows, [[0, None], [0, None]])},
    {"table": "box", "method": "full", "bounds": [[-0.5, None], [-1, 1.2]], "of": lambda rows: truncated(rows, [[-0.5, None], [-1, 1.2]])},
    {"table": "square", "method": "full", "model": "quartic", "of": quartic},
    {"table": "path", "method": "full", "lambda": 0.05, "of": lambda rows: lasso(rows, 0.05)},
]
for case in cases:
    case.update(case.pop("of")(read(case["table"])))
print(json.dumps(cases, indent=1))
