"""Writes a table of scikit-learn: wine, breast_cancer or diabetes.

    python3 tables.py ignored out.csv name columns factors rows

The arguments and the output are as in tables.R. Blanks in names become underscores.
"""
import sys

import numpy as np
from sklearn import datasets

out, name, columns, factors, rows = sys.argv[2:7]
options = {"scaled": False} if name == "diabetes" else {}
x = getattr(datasets, "load_" + name)(as_frame=True, **options).data
x.columns = [c.replace(" ", "_") for c in x.columns]
if columns:
    x = x[columns.split(",")]
if 0 < int(rows) < len(x):
    x = x.iloc[np.sort(np.random.default_rng(1).permutation(len(x))[: int(rows)])]
x = x.copy()
for c in x.columns:
    if c not in factors.split(","):
        print(c, "number", sep="\t")
        continue
    levels = np.unique(x[c])
    x[c] = np.searchsorted(levels, x[c])
    print(c, "binary" if len(levels) == 2 else "nominal", *(f"{c}{v:g}" for v in levels), sep="\t")
np.savetxt(out, x.to_numpy(float), delimiter=",", fmt="%.12g")
