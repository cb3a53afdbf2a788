"""Tests of the package against numpy, by hand and by scikit-learn's own checks.

They need the program: MISSINGSCORE names it, or it is on the PATH.
"""

import doctest
import io
import os
import pickle
import sys
import time
import unittest
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import missingscore as ms  # noqa: E402

try:
    import pandas
except ImportError:
    pandas = None
try:
    from sklearn.utils.estimator_checks import check_estimator
except ImportError:
    check_estimator = None


def chain(n=400, gaps=0.0, seed=1):
    """x0 - x1 - x2 with partial correlations .6 and -.5."""
    rng = np.random.default_rng(seed)
    precision = np.array([[1, -0.6, 0], [-0.6, 1, 0.5], [0, 0.5, 1]])
    x = rng.multivariate_normal(np.zeros(3), np.linalg.inv(precision), n)
    x[rng.random(x.shape) < gaps] = np.nan
    return x


class Functions(unittest.TestCase):
    def test_network_of_a_complete_table_is_the_inverse_covariance(self):
        x = chain()
        net = ms.network(x, inference="model")
        self.assertEqual({(e["from"], e["to"]) for e in net.edges}, {("x0", "x1"), ("x1", "x2")})
        p = np.linalg.inv(np.cov(x.T))
        free = -p / np.sqrt(np.outer(np.diag(p), np.diag(p)))
        for pair in net.rows("pairs"):
            self.assertAlmostEqual(pair["estimate"], free[int(pair["from"][1]), int(pair["to"][1])], 6)
        self.assertTrue(net.converged)
        self.assertTrue(net.report.exists())
        self.assertIn("<svg", net._repr_svg_())

    def test_imputed_cells_are_conditional_means(self):
        x = chain(gaps=0.1)
        model = ms.fit(x)
        mu, p = np.array(model_file(model)["mean"]), np.array(model_file(model)["precision"])
        filled = model.impute(x)
        for row, full in zip(x, filled):
            gap = np.isnan(row)
            if gap.any() and not gap.all():
                expected = mu[gap] - np.linalg.solve(p[np.ix_(gap, gap)], p[np.ix_(gap, ~gap)] @ (row - mu)[~gap])
                np.testing.assert_allclose(full[gap], expected, atol=1e-9)
            np.testing.assert_array_equal(full[~gap], row[~gap])
        draws = model.impute(x, draws=3)
        self.assertEqual(len(draws), 3)
        self.assertFalse(np.array_equal(draws[0], draws[1]))

    def test_a_mapping_of_columns(self):
        x = chain(gaps=0.1)
        table = {"a": list(x[:, 0]), "b": [None if np.isnan(v) else v for v in x[:, 1]]}
        filled = ms.impute(table)
        self.assertEqual(list(filled), ["a", "b"])
        self.assertFalse(any(v is None or v != v for column in filled.values() for v in column))

    def test_mistakes_name_the_flag(self):
        with self.assertRaises(ms.UsageError) as caught:
            ms.network(chain(), gamma=-1)
        self.assertEqual((caught.exception.code, caught.exception.field), ("usage", "gamma"))
        self.assertIn("from 0 to 1", str(caught.exception))

    def test_messages_are_about_the_table(self):
        x = chain()
        x[3, 1] = np.inf
        with self.assertRaisesRegex(ms.MissingScoreError, '^row 3: column "x1"'):
            ms.network(x)
        with self.assertRaisesRegex(ms.MissingScoreError, "^the table: "):
            ms.network({"a": [], "b": []})
        with self.assertRaisesRegex(ValueError, "read_csv"):
            ms.network("table.csv")

    def test_a_pickled_model_has_its_files(self):
        x = chain(gaps=0.1)
        model = ms.fit(x)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.impute(x), model.impute(x))
        self.assertNotEqual(again.folder, model.folder)
        folder = again.folder
        del again
        self.assertFalse(folder.exists())

    def test_without_the_program(self):
        named = os.environ.get("MISSINGSCORE")
        os.environ["MISSINGSCORE"] = "/no/such/program"
        try:
            with self.assertRaisesRegex(FileNotFoundError, "MISSINGSCORE names /no/such/program"):
                ms.network(chain())
        finally:
            os.environ.pop("MISSINGSCORE") if named is None else os.environ.update(MISSINGSCORE=named)

    def test_an_interrupt_ends_the_program(self):
        def stop(_):
            raise KeyboardInterrupt

        begun = time.time()
        with self.assertRaises(KeyboardInterrupt):
            ms.network(chain(5000, 0.3), method="var", progress=stop)
        self.assertLess(time.time() - begun, 20)

    def test_what_is_left_out_is_a_warning(self):
        table = {"id": [f"person {k}" for k in range(400)], **{f"x{j}": list(column) for j, column in enumerate(chain().T)}}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            net = ms.network(table)
        self.assertEqual(net.nodes, ["x0", "x1", "x2"])
        self.assertTrue(any("left out: id" in str(w.message) and w.filename == __file__ for w in caught))

    def test_examples(self):
        failed, tried = doctest.testmod(ms)
        self.assertEqual((failed, tried > 0), (0, True))


def model_file(model):
    import json

    return json.loads(model.path.read_text())


@unittest.skipIf(pandas is None, "pandas is not installed")
class Frames(unittest.TestCase):
    def table(self, n=300):
        rng = np.random.default_rng(3)
        latent = rng.normal(size=(n, 2))
        frame = pandas.DataFrame(
            {
                "size": latent[:, 0],
                "grade": pandas.Categorical.from_codes(np.digitize(latent[:, 0] + latent[:, 1], [-1, 1]), ["low", "middle", "high"], ordered=True),
                "town": pandas.Categorical(rng.choice(["Zürich", "Bath, UK", 'the "Hague"'], n)),
                "smokes": pandas.array(latent[:, 1] > 0, dtype="boolean"),
                "count": pandas.array(rng.integers(0, 50, n), dtype="Int64"),
            },
            index=[f"row {k}" for k in range(n)],
        )
        for column in frame:
            frame.loc[rng.random(n) < 0.1, column] = pandas.NA if column in ("smokes", "count") else None
        return frame

    def test_dtypes_and_observed_cells_stay(self):
        frame = self.table()
        for filled in [ms.impute(frame), *ms.impute(frame, draws=2)]:
            self.assertFalse(filled.isna().any().any())
            for column in ("size", "grade", "town", "smokes"):
                self.assertEqual(filled[column].dtype, frame[column].dtype, column)
            for column in frame:
                seen = frame[column].notna()
                self.assertTrue((filled.loc[seen, column] == frame.loc[seen, column]).all(), column)
            self.assertTrue(filled.index.equals(frame.index))

    def test_texts_numbers_as_names_and_the_level_na(self):
        x = chain(gaps=0.1)
        frame = pandas.DataFrame(x)
        frame["text"] = [None, "", "NA", "NA"] * 99 + ["no"] * 4
        frame["code"] = ["1", "2", None, "3"] * 100
        frame["day"] = pandas.date_range("2020-01-01", periods=400)
        frame["who"] = pandas.Categorical([f"P{k}" for k in range(400)])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            filled = ms.impute(frame)
        self.assertTrue(any("left out: day" in str(w.message) for w in caught))
        self.assertEqual(set(filled["text"]), {"NA", "no"})
        self.assertTrue(all(isinstance(code, str) for code in filled["code"]))
        self.assertEqual(list(filled), list(frame))
        self.assertFalse(filled.isna().any().any())

    def test_levels_reach_the_network(self):
        frame = self.table()
        net = ms.network(frame)
        self.assertIn(("size", "grade"), [(e["from"], e["to"]) for e in net.edges])
        kinds = {c["name"]: c for c in ms.describe(frame)["columns"]}
        self.assertEqual([kinds[c]["kind"] for c in ("grade", "town", "smokes")], ["ordered", "nominal", "binary"])
        self.assertEqual(kinds["grade"]["levels"], ["low", "middle", "high"])


@unittest.skipIf(check_estimator is None, "scikit-learn is not installed")
class Estimators(unittest.TestCase):
    def test_scikit_learn_checks(self):
        for estimator in (ms.MissingScoreImputer(), ms.ScoreGraphicalModel(), ms.DensityModel()):
            for instance, check in check_estimator(estimator, generate_only=True):
                with self.subTest(estimator=type(estimator).__name__, check=str(check)), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        check(instance)
                    except unittest.SkipTest:
                        pass

    def test_the_posterior_is_sampled_by_the_seed(self):
        x = chain(gaps=0.2)
        draw = lambda seed: ms.MissingScoreImputer(sample_posterior=True, random_state=seed).fit_transform(x)  # noqa: E731
        np.testing.assert_array_equal(draw(1), draw(1))
        self.assertFalse(np.array_equal(draw(1), draw(2)))

    @unittest.skipIf(pandas is None, "pandas is not installed")
    def test_nodes_have_the_names_of_the_frame(self):
        model = ms.ScoreGraphicalModel().fit(pandas.DataFrame(chain(gaps=0.1), columns=["a", "b c", "ü"]))
        self.assertEqual(set(model.to_networkx()), {"a", "b c", "ü"})
        self.assertEqual({(row["from"], row["to"]) for row in model.intervals_}, {("a", "b c"), ("a", "ü"), ("b c", "ü")})

    @unittest.skipIf(pandas is None, "pandas is not installed")
    def test_pandas_out(self):
        frame = pandas.DataFrame(chain(gaps=0.1), columns=list("abc"), index=range(400, 800))
        filled = ms.MissingScoreImputer().set_output(transform="pandas").fit_transform(frame)
        self.assertEqual((list(filled), list(filled.index)), (list(frame), list(frame.index)))

    def test_log_density(self):
        x = chain()
        model = ms.DensityModel().fit(x)
        mu, p = np.array(model_file(model.model_)["mean"]), np.array(model_file(model.model_)["precision"])
        z = x - mu
        expected = -0.5 * np.einsum("ij,jk,ik->i", z, p, z)
        got = model.score_samples(x)
        np.testing.assert_allclose(got - got[0], expected - expected[0], atol=1e-9)
        self.assertEqual(model.sample(5).shape, (5, 3))


if __name__ == "__main__":
    unittest.main()
