"""The commands of the program as functions of tables."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any, Iterator, Optional, TypeVar, Union

import numpy as np

from ._program import Progress, run, words
from ._tables import as_table, records


class Result:
    """What a command gave: info is its JSON object, folder holds its files.

    Without out= the folder is temporary and goes with the result; a pickled result has its files.
    """

    def __init__(self, info: dict[str, Any], folder: Path):
        self.info, self.folder = info, folder

    def __reduce__(self) -> Any:
        return _unpickled, (type(self), self.info, {file.name: file.read_bytes() for file in self.folder.iterdir() if file.is_file()})

    def __repr__(self) -> str:
        return f"<missingscore.{type(self).__name__}: {self.verdict.partition(':')[0] or 'done'}, files in {self.folder}>"

    @property
    def converged(self) -> bool:
        return bool(self.info["exit"] == 0)

    @property
    def verdict(self) -> str:
        return str(self.info.get("verdict", ""))

    @property
    def warnings(self) -> list[str]:
        return list(self.info.get("warnings", []))

    @property
    def report(self) -> Path:
        """The path of report.html."""
        return self.folder / "report.html"

    def rows(self, name: str) -> list[dict[str, Any]]:
        """A CSV file of the folder, as "edges", as a list of rows."""
        return records(self.folder / f"{name}.csv")

    def frame(self, name: str) -> Any:
        """A CSV file of the folder as a pandas.DataFrame."""
        import pandas
        return pandas.read_csv(self.folder / f"{name}.csv", float_precision="round_trip")


R = TypeVar("R", bound=Result)


class Network(Result):
    """A network of partial correlations."""

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}: {len(self.nodes)} nodes, {len(self.edges)} edges>"

    def __init__(self, *args: Any):
        super().__init__(*args)
        self.model: dict[str, Any] = json.loads((self.folder / "model.json").read_text(encoding="utf-8"))

    @property
    def edges(self) -> list[dict[str, Any]]:
        """The chosen edges, strongest first, with estimate, se, low, high, p and q where there are intervals."""
        return self.rows("edges")

    @property
    def nodes(self) -> list[str]:
        return [row["node"] for row in self.rows("centrality")]

    @property
    def partial_correlations(self) -> np.ndarray[Any, Any]:
        """Nodes × nodes, 0 where there is no edge, 1 on the diagonal."""
        place = {name: k for k, name in enumerate(self.nodes)}
        r = np.eye(len(place))
        for edge in self.edges:
            a, b = place[edge["from"]], place[edge["to"]]
            r[a, b] = r[b, a] = edge["partial_correlation"]
        return r

    def to_networkx(self) -> Any:
        """A networkx.Graph; edges have the columns of edges.csv, weight being the size."""
        import networkx
        graph = networkx.Graph()
        graph.add_nodes_from(self.nodes)
        for edge in self.edges:
            rest = {key: value for key, value in edge.items() if key not in ("from", "to") and value is not None}
            graph.add_edge(edge["from"], edge["to"], **rest)
        return graph

    def _repr_svg_(self) -> str:
        return (self.folder / "network.svg").read_text(encoding="utf-8")


class Comparison(Result):
    """Two networks and their difference; info has the tests."""

    @property
    def differences(self) -> list[dict[str, Any]]:
        return self.rows("differences")

    def _repr_svg_(self) -> str:
        return (self.folder / "networks.svg").read_text(encoding="utf-8")


class Model(Result):
    """A fitted density: its file is path."""

    @property
    def path(self) -> Path:
        return self.folder / "model.json"

    def sample(self, n: int, progress: Progress = None, **settings: Any) -> list[dict[str, Any]]:
        """Draw n rows."""
        with _scratch() as folder:
            run(["sample", self.path, f"--n={n}", f"--out={folder / 'rows.csv'}", *words(settings, folder)], progress)
            return records(folder / "rows.csv")

    def score(self, table: Any, progress: Progress = None, **settings: Any) -> list[dict[str, Any]]:
        """The rows' log density (up to a constant if the model is unnormalised) and its score."""
        with _scratch() as folder:
            run(["score", self.path, *_reading(as_table(table).write(folder)), f"--out={folder / 's.csv'}", *words(settings, folder)], progress)
            return records(folder / "s.csv")

    def impute(self, table: Any, draws: Optional[int] = None, progress: Progress = None, **settings: Any) -> Any:
        """Fill the table's gaps given the model: expectations, or a list of draws."""
        return _impute([self.path], table, draws, progress, settings)


def describe(table: Any, progress: Progress = None, **settings: Any) -> dict[str, Any]:
    """What the table is: kinds of columns, gaps, findings, whether gaps depend on other columns."""
    with _scratch() as folder:
        return run([*as_table(table).write(folder), *words(settings, folder)], progress)


def network(table: Any, out: Optional[os.PathLike[str]] = None, progress: Progress = None, **settings: Any) -> Network:
    """Estimate a network of partial correlations from a table with missing cells."""
    return _folder(Network, "network", [table], out, progress, settings)


def compare(
    table: Any, other: Any = None, *, by: Optional[str] = None, out: Optional[os.PathLike[str]] = None, progress: Progress = None, **settings: Any
) -> Comparison:
    """Compare the networks of two tables, or of the groups of one table's column by."""
    tables = [table] if other is None else [table, other]
    return _folder(Comparison, "compare", tables, out, progress, {"by": by, **settings})


def power(like: Union[Network, os.PathLike[str], None] = None, out: Optional[os.PathLike[str]] = None, progress: Progress = None, **settings: Any) -> Result:
    """How many rows it takes to find the edges of a network: that of a result, or one by settings."""
    if isinstance(like, Network):
        like = like.folder
    return _folder(Result, "power", [], out, progress, {"like": like, **settings})


def fit(table: Any, out: Optional[os.PathLike[str]] = None, progress: Progress = None, **settings: Any) -> Model:
    """Fit a density: model="gaussian", "mixture", "quartic", "energy", "score-network"."""
    return _folder(Model, "fit", [table], out, progress, settings)


def impute(table: Any, draws: Optional[int] = None, progress: Progress = None, **settings: Any) -> Any:
    """Fill the gaps: one table of expectations (modes of levels), or with draws=M a list of M draws.

    Tables come back as they are given: a DataFrame with its dtypes, an array, or a dict of lists.
    """
    return _impute([], table, draws, progress, settings)


def _impute(model: list[Any], table: Any, draws: Optional[int], progress: Progress, settings: dict[str, Any]) -> Any:
    given = as_table(table)
    with _scratch() as folder:
        file = given.write(folder)
        if model:
            file = _reading(file)
        how = ["--point"] if draws is None else [f"--draws={draws}"]
        run(["impute", *model, *file, *how, f"--out={folder / 'completed.csv'}", *words(settings, folder)], progress)
        tables = given.completed(folder / "completed.csv")
        return tables[0] if draws is None else tables


def _folder(kind: type[R], command: str, tables: list[Any], out: Optional[os.PathLike[str]], progress: Progress, settings: dict[str, Any]) -> R:
    folder = Path(tempfile.mkdtemp(prefix="missingscore-") if out is None else out)
    try:
        with _scratch() as files:
            line: list[Any] = [command]
            for k, table in enumerate(tables):
                line += as_table(table).write(files, f"table{k or ''}")[: None if k == 0 else 1]
            info = run([*line, f"--out={folder}/", *words(settings, files)], progress)
        result = kind(info, folder)
    except BaseException:
        if out is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return result if out is not None else _temporary(result)


def _temporary(result: R) -> R:
    """The result, with which its folder goes."""
    weakref.finalize(result, shutil.rmtree, result.folder, ignore_errors=True)
    return result


def _unpickled(kind: type[R], info: dict[str, Any], files: dict[str, bytes]) -> R:
    folder = Path(tempfile.mkdtemp(prefix="missingscore-"))
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return _temporary(kind(info, folder))


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="missingscore-") as folder:
        yield Path(folder)


def _reading(file: list[Any]) -> list[Any]:
    """The words that read a table for a model, which knows its kinds."""
    return [word for word in file if not str(word).startswith("--kinds=")]
