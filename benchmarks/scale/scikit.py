"""Path of Gaussian networks of a complete table by scikit-learn's graphical lasso.

    python3 scikit.py table.csv out.csv points ratio threshold

One alpha after the other, from the one that empties the network down to ratio times it.
An alpha at which the solver fails ends the path.
"""

import sys
import time
import warnings

import numpy as np
from sklearn.covariance import empirical_covariance, graphical_lasso
from sklearn.exceptions import ConvergenceWarning

table, out, points, ratio, threshold = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5])
y = np.loadtxt(table, delimiter=",", skiprows=1)
warnings.simplefilter("ignore", ConvergenceWarning)


def resident(line):
    """A line of /proc/self/status in megabytes."""
    with open("/proc/self/status") as f:
        return next(int(text.split()[1]) for text in f if text.startswith(line)) / 1024


before = resident("VmRSS:")
start = time.monotonic()
covariance = empirical_covariance(y)
top = np.abs(covariance - np.diag(np.diag(covariance))).max()
networks = []
for alpha in np.geomspace(top, top * ratio, points):
    try:
        _, precision = graphical_lasso(covariance, alpha=alpha)
    except FloatingPointError:
        break
    networks.append(precision)
seconds = time.monotonic() - start

megabytes = resident("VmHWM:") - before
with open(out, "w") as f:
    print(f"{seconds:.4f},{megabytes:.1f},{len(networks)}", file=f)
    for at, precision in enumerate(networks):
        for j, k in zip(*np.nonzero(np.triu(np.abs(precision) > threshold, 1))):
            print(f"{at},{j},{k}", file=f)
