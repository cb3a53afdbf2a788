"""Imputes a table by scikit-learn.

    python3 impute.py table.csv out.csv kinds method train m seed

kinds and the output are as in impute.R; the first train rows fit the imputer. Numbers and ordered
levels are standardised; a binary column is 0 or 1, and a nominal column has a dummy for each level,
whose largest value is the imputed level. method is
  mean       the mean, or the most frequent level
  knn        KNNImputer, five neighbours
  iterative  IterativeImputer, its BayesianRidge regressions
  sample     m draws of IterativeImputer with sample_posterior=True, ten iterations
"""
import sys
import time
import warnings

import numpy as np
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

warnings.simplefilter("ignore")
table, out, kinds, method = sys.argv[1:5]
train, m, seed = map(int, sys.argv[5:8])
x = np.genfromtxt(table, delimiter=",", skip_header=1, comments=None)
gaps = np.isnan(x)
columns, parts = [], []
for j, kind in enumerate(kinds.split(",")):
    levels = np.unique(x[~gaps[:, j], j]) if kind not in ("number", "whole") else None
    if kind == "nominal":
        block = np.where(gaps[:, [j]], np.nan, x[:, [j]] == levels)
    else:
        block = x[:, [j]]
    columns.append((len(parts), block.shape[1], levels))
    parts += list(block.T)
z = np.array(parts).T
mean, deviation = np.nanmean(z[:train], 0), np.nanstd(z[:train], 0)
z = (z - mean) / np.where(deviation > 0, deviation, 1)


def filled(imputer):
    y = np.vstack([imputer.fit_transform(z[:train]), imputer.transform(z[train:])]) if train < len(z) else imputer.fit_transform(z)
    y = y * np.where(deviation > 0, deviation, 1) + mean
    values = x.copy()
    for j, (at, size, levels) in enumerate(columns):
        block = y[:, at : at + size]
        if size > 1:
            values[:, j] = levels[block.argmax(1)]
        elif levels is not None:
            values[:, j] = levels[np.abs(block - levels).argmin(1)]
        else:
            values[:, j] = block[:, 0]
    return values[gaps]


def iterative(k=0, **options):
    return IterativeImputer(max_iter=10, random_state=1000 * seed + k, **options)


def imputers():
    if method == "mean":
        return [SimpleImputer()]
    if method == "knn":
        return [KNNImputer(n_neighbors=5)]
    if method == "iterative":
        return [iterative()]
    if method == "sample":
        return [iterative(k, sample_posterior=True) for k in range(m)]
    sys.exit(f"there is no method {method}")


values = [filled(imputer) for imputer in imputers()]
print(f"{time.process_time():.2f}")
np.savetxt(out, np.array(values).T, delimiter=",", fmt="%.12g")
