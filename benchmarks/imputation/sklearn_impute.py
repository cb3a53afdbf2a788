"""Imputation by scikit-learn, columns standardised meanwhile.

    python3 sklearn_impute.py table.csv out.csv imputer m seed

imputer is "iterative" (IterativeImputer, the conditional mean), "iterative-sample" (m times
with sample_posterior=True, seeds seed*1000 and on), "forest" (IterativeImputer with 50 extremely
randomised trees) or "knn" (KNNImputer, five neighbours).
Writes a line for each missing cell, row by row: its m draws, or one number.
"""
import sys
import warnings

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.preprocessing import StandardScaler

warnings.simplefilter("ignore", ConvergenceWarning)
table, out, imputer, m, seed = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
x = np.genfromtxt(table, delimiter=",", skip_header=1, comments=None)
gaps = np.isnan(x)
scaler = StandardScaler().fit(x)
z = scaler.transform(x)


def filled(by):
    return scaler.inverse_transform(by.fit_transform(z))[gaps]


if imputer == "knn":
    values = [filled(KNNImputer(n_neighbors=5))]
elif imputer == "iterative":
    values = [filled(IterativeImputer(random_state=seed, max_iter=20))]
elif imputer == "forest":
    trees = ExtraTreesRegressor(n_estimators=50, random_state=seed)
    values = [filled(IterativeImputer(trees, random_state=seed, max_iter=10))]
elif imputer == "iterative-sample":
    values = [filled(IterativeImputer(random_state=1000 * seed + k, sample_posterior=True, max_iter=10)) for k in range(m)]
else:
    sys.exit(f"there is no imputer {imputer}")
np.savetxt(out, np.array(values).T, delimiter=",", fmt="%.12g")
