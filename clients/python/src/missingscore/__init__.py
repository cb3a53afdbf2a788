"""Networks, densities and imputations of tables with missing cells.

The program missingscore computes everything. This package hands it tables and reads its results:

>>> import numpy, missingscore as ms
>>> x = numpy.random.default_rng(1).normal(size=(200, 3))
>>> x[:, 1] += x[:, 0]
>>> x[:20, 0] = numpy.nan
>>> net = ms.network(x)
>>> [(edge["from"], edge["to"]) for edge in net.edges]
[('x0', 'x1')]

A keyword names a flag of the program: gamma=0.5 is --gamma 0.5, refit=False is --refit=false,
columns=["a", "b"] is --columns a,b; one that is a Python word has an underscore, as lambda_.
"""

from typing import TYPE_CHECKING, Any

from ._commands import Comparison, Model, Network, Result, compare, describe, fit, impute, network, power
from ._program import MissingScoreError, MissingScoreWarning, NotReliableWarning, UsageError, program

if TYPE_CHECKING:
    from ._estimators import DensityModel, MissingScoreImputer, ScoreGraphicalModel

__all__ = [
    "Comparison", "DensityModel", "MissingScoreError", "MissingScoreImputer", "MissingScoreWarning", "Model",
    "Network", "NotReliableWarning", "Result", "ScoreGraphicalModel", "UsageError", "compare", "describe",
    "fit", "impute", "network", "power", "program",
]
__version__ = "0.9.0"


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module missingscore has no attribute {name}")
    from . import _estimators  # scikit-learn takes a second to load
    return getattr(_estimators, name)
