"""Draws the tables of this folder whose places of missing cells follow a stated law.

    python3 tables.py

writes mar, half-space, weighted, six, path-gaps, far-gaps, scales, blocks, box-gaps, few-pairs,
collinear-gaps and square-gaps. The certified values are those of the files and do not depend on this script: it
says how the cells came to be missing. By Python's Mersenne Twister with a seed for each table;
normal numbers by sums of products with a factor of the covariances.
"""

import math
import random

MISSING = "NA"


def normal(rng, factor):
    """A row with covariances factor times its transpose."""
    z = [rng.gauss(0, 1) for _ in factor]
    return [sum(f * v for f, v in zip(line, z)) for line in factor]


def write(name, header, rows, digits=3):
    with open(name + ".csv", "w", newline="\n") as f:
        f.write(",".join(header) + "\n")
        for row in rows:
            f.write(",".join(v if v == MISSING else "%.*f" % (digits, v) for v in row) + "\n")


def at_random(rng, row, share):
    """Completely at random; a row keeps one cell at least."""
    hidden = [rng.random() < share for _ in row]
    if all(hidden):
        hidden[rng.randrange(len(row))] = False
    return [MISSING if h else v for h, v in zip(hidden, row)]


CHAIN = [[1, 0, 0, 0], [0.7, 0.8, 0, 0], [0.4, 0.5, 0.8, 0], [-0.3, 0.2, 0.6, 0.9]]


def mar():
    """x is always there; y is missing by x, z by x, u by y where y is there, else by chance."""
    rng, rows = random.Random(1), []
    for _ in range(50):
        x, y, z, u = normal(rng, CHAIN)
        hide_y = rng.random() < (0.7 if x < -0.3 else 0.1)
        hide_z = rng.random() < 1 / (1 + math.exp(1 - 2 * x))
        hide_u = rng.random() < (0.2 if hide_y else 0.6 if y > 0.5 else 0.1)
        rows.append([x, MISSING if hide_y else y, MISSING if hide_z else z, MISSING if hide_u else u])
    write("mar", "xyzu", rows)


def half_space():
    """3x + 4y < 5."""
    rng, rows = random.Random(2), []
    while len(rows) < 60:
        x, y = normal(rng, [[1, 0], [-0.5, 0.9]])
        if 3 * x + 4 * y < 4.98:
            rows.append([x, y])
    write("half-space", "xy", rows)


def weighted():
    """w is the row's weight; the other cells are missing completely at random."""
    rng, rows = random.Random(3), []
    for _ in range(40):
        x, y, z, _ = normal(rng, CHAIN)
        w = 0.5 + 3 * rng.random() + (1 if x > 0 else 0)
        rows.append(at_random(rng, [x, 2 * y + 1, z - 3], 0.2) + [w])
    write("weighted", "xyzw", rows)


def six():
    rng, rows = random.Random(4), []
    for _ in range(50):
        x, y, z, u = normal(rng, CHAIN)
        v, t = 0.6 * u + rng.gauss(0, 0.7), 0.5 * x - 0.4 * u + rng.gauss(0, 0.8)
        rows.append(at_random(rng, [x, y, z, u, v, t], 0.2))
    write("six", "xyzuvt", rows)


def path_gaps():
    """A chain x - y - z - u - v in units of their own, 15 % missing completely at random."""
    rng, rows = random.Random(5), []
    for _ in range(60):
        row = [rng.gauss(0, 1)]
        for _ in range(4):
            row.append(0.6 * row[-1] + rng.gauss(0, 0.8))
        rows.append(at_random(rng, [m + s * v for m, s, v in zip([0, 10, -3, 1, 5], [1, 3, 0.5, 1, 2], row)], 0.15))
    write("path-gaps", "xyzuv", rows)


def far_gaps():
    """Means far from 0 against the deviations."""
    rng, rows = random.Random(6), []
    for _ in range(30):
        x, y, z, _ = normal(rng, CHAIN)
        rows.append(at_random(rng, [1e6 + x, -1e5 + 2 * y, z], 0.2))
    write("far-gaps", "xyz", rows)


def scales():
    """Columns in units a million times apart."""
    rng, rows = random.Random(7), []
    for _ in range(40):
        x, y, z, _ = normal(rng, CHAIN)
        rows.append(at_random(rng, [1e-3 * x, y, 1e3 * z], 0.25))
    write("scales", "xyz", rows, digits=7)


def blocks():
    """z, u and v are missing together, as a page of a questionnaire."""
    rng, rows = random.Random(8), []
    for _ in range(40):
        x, y, z, u = normal(rng, CHAIN)
        v = 0.5 * z + rng.gauss(0, 0.8)
        page = rng.random() < 0.4
        rows.append([x, MISSING if rng.random() < 0.1 else y] + ([MISSING] * 3 if page else [z, u, v]))
    write("blocks", "xyzuv", rows)


def box_gaps():
    """x > -0.5 and -1 < y < 1.2, 20 % missing completely at random."""
    rng, rows = random.Random(9), []
    while len(rows) < 60:
        x, y = normal(rng, [[0.8, 0], [-0.3, 0.8]])
        x += 0.5
        if x > -0.49 and -0.99 < y < 1.19:
            rows.append(at_random(rng, [x, y], 0.2))
    write("box-gaps", "xy", rows)


def few_pairs():
    """y and z are together in six rows of 40, as of two files that were put together."""
    rng, rows = random.Random(10), []
    for i in range(40):
        x, y, z, _ = normal(rng, CHAIN)
        rows.append([x, y, z] if i < 6 else [x, y, MISSING] if i % 2 else [x, MISSING, z])
    write("few-pairs", "xyz", rows)


def collinear_gaps():
    """z is x + y but for a fiftieth, 15 % missing completely at random."""
    rng, rows = random.Random(12), []
    for _ in range(40):
        x, y = normal(rng, [[1, 0], [0.3, 0.9]])
        rows.append(at_random(rng, [x, y, x + y + rng.gauss(0, 0.02)], 0.15))
    write("collinear-gaps", "xyz", rows, digits=4)


def square_gaps():
    """Numbers about 0 for the quartic model, 20 % missing completely at random."""
    rng, rows = random.Random(11), []
    for _ in range(40):
        rows.append(at_random(rng, [rng.uniform(-1, 1), rng.uniform(-1, 1)], 0.2))
    write("square-gaps", "xy", rows)


for make in [mar, half_space, weighted, six, path_gaps, far_gaps, scales, blocks, box_gaps, few_pairs, collinear_gaps, square_gaps]:
    make()
