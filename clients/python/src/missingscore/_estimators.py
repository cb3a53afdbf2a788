"""Estimators with scikit-learn's interface. They need scikit-learn."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from . import _commands
from ._tables import Table

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted
    try:
        from sklearn.utils.validation import validate_data
    except ImportError:  # before 1.6
        validate_data = None
except ImportError:  # the functions do without

    class BaseEstimator:  # type: ignore[no-redef]
        def __new__(cls, *args: Any, **settings: Any) -> Any:
            raise ImportError(f"{cls.__name__} needs scikit-learn; missingscore.network, fit and impute do not")

    TransformerMixin = object  # type: ignore[assignment,misc]


class _Estimator(BaseEstimator):
    _least_features = 1
    settings: Optional[dict[str, Any]]
    random_state: Any

    def _rows(self, X: Any, fitting: bool) -> Table:
        """X checked: a DataFrame with categories as it is, else an array of floats, with the names of X."""
        X = self._checked(X, fitting)
        names = getattr(self, "feature_names_in_", None)
        return Table(X, None if names is None else list(names))

    def _checked(self, X: Any, fitting: bool) -> Any:
        levels = hasattr(X, "iloc") and any(getattr(kind, "kind", "O") not in "fiub" for kind in X.dtypes)
        least: dict[str, Any] = {"ensure_min_samples": 2 if fitting else 1, "ensure_min_features": self._least_features}
        if validate_data is not None:
            how: dict[str, Any] = {"skip_check_array": True} if levels else {"dtype": float, "ensure_all_finite": "allow-nan", **least}
            return validate_data(self, X, reset=fitting, **how)
        if levels:
            self._check_feature_names(X, reset=fitting)
            self._check_n_features(X, reset=fitting)
            return X
        return self._validate_data(X, reset=fitting, dtype=float, force_all_finite="allow-nan", **least)

    def _seeded(self) -> dict[str, Any]:
        seed = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = seed.randint(2**31)
        return {"seed": seed, **(self.settings or {})}

    def _more_tags(self) -> dict[str, Any]:
        return {"allow_nan": True}  # before 1.6

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class MissingScoreImputer(TransformerMixin, _Estimator):
    """Fill gaps by the conditional distribution of a fitted model.

    transform gives expectations (of categories the most probable one), or with
    sample_posterior=True a draw. model is "gaussian" or another model of fit;
    settings are further flags of fit.
    """

    def __init__(self, model: str = "auto", *, sample_posterior: bool = False, random_state: Any = None, settings: Optional[dict[str, Any]] = None):
        self.model, self.sample_posterior, self.random_state, self.settings = model, sample_posterior, random_state, settings

    def fit(self, X: Any, y: Any = None) -> "MissingScoreImputer":
        rows = self._rows(X, fitting=True)
        kind = self.model
        if kind == "auto":
            kind = "mixture" if rows.frame else "gaussian"
        self.model_ = _commands.fit(rows, model=kind, **self._seeded())
        self.n_iter_ = 1
        return self

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        rows = self._rows(X, fitting=False)
        if self.sample_posterior:
            return self.model_.impute(rows, draws=1, seed=self._seeded()["seed"])[0]
        return self.model_.impute(rows)

    def sample(self, X: Any, draws: int) -> Any:
        """Several completed copies of X, for multiple imputation."""
        check_is_fitted(self)
        return self.model_.impute(self._rows(X, fitting=False), draws=draws, seed=self._seeded()["seed"])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray[Any, Any]:
        check_is_fitted(self)
        if input_features is not None:
            return np.asarray(input_features, object)
        return np.asarray(getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)]), object)


class ScoreGraphicalModel(_Estimator):
    """A sparse Gaussian network of a table with gaps.

    After fit: precision_, location_, partial_correlations_ (features × features), intervals_
    (the rows of pairs.csv) and network_.
    """

    _least_features = 2

    def __init__(self, *, random_state: Any = None, settings: Optional[dict[str, Any]] = None):
        self.random_state, self.settings = random_state, settings

    def fit(self, X: Any, y: Any = None) -> "ScoreGraphicalModel":
        self.network_ = net = _commands.network(self._rows(X, fitting=True), **self._seeded())
        self.precision_, self.location_ = np.array(net.model["precision"]), np.array(net.model["mean"])
        self.partial_correlations_ = net.partial_correlations
        self.intervals_ = net.rows("pairs") if (net.folder / "pairs.csv").exists() else None
        return self

    def to_networkx(self) -> Any:
        check_is_fitted(self)
        return self.network_.to_networkx()


class DensityModel(_Estimator):
    """A density of rows with gaps: fit, sample and score_samples.

    score_samples is the log density up to a constant of the model, NaN for rows with gaps.
    """

    def __init__(self, model: str = "gaussian", *, random_state: Any = None, settings: Optional[dict[str, Any]] = None):
        self.model, self.random_state, self.settings = model, random_state, settings

    def fit(self, X: Any, y: Any = None) -> "DensityModel":
        self.model_ = _commands.fit(self._rows(X, fitting=True), model=self.model, **self._seeded())
        return self

    def sample(self, n_samples: int = 1) -> np.ndarray[Any, Any]:
        check_is_fitted(self)
        rows = self.model_.sample(n_samples, seed=self._seeded()["seed"])
        return np.array([list(row.values()) for row in rows])

    def score_samples(self, X: Any) -> np.ndarray[Any, Any]:
        check_is_fitted(self)
        rows = self.model_.score(self._rows(X, fitting=False))
        return np.array([np.nan if row["log_density"] is None else row["log_density"] for row in rows])

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of score_samples over complete rows."""
        return float(np.nanmean(self.score_samples(X)))
