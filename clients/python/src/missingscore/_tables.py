"""Tables of the caller as files for the program, and completed files as such tables again."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any, Mapping, Optional

import numpy as np


class Table:
    """A caller's table: a DataFrame, an array (rows × columns) or a mapping of names to columns.

    None, NaN, NaT, pandas.NA and empty texts are missing cells. Columns of categories, ordered
    categories and booleans are so for the program, too; columns of an array are numbers. A column
    that a number names, as 0, is x0 for the program.
    """

    def __init__(self, table: Any, names: Optional[list[str]] = None):
        self.of = table
        self.frame = hasattr(table, "iloc")
        if self.frame:
            self.names = [f"x{name}" if isinstance(name, (int, float, np.number)) else str(name) for name in table.columns]
            self.columns = [table.iloc[:, j] for j in range(table.shape[1])]
        elif isinstance(table, Mapping):
            self.names, self.columns = [str(name) for name in table], [list(column) for column in table.values()]
        else:
            array = np.asarray(table)
            if array.ndim != 2:
                raise ValueError("a table is a DataFrame, a dict of columns or an array of rows and columns; pandas.read_csv reads a file")
            self.names = names or [f"x{j}" for j in range(array.shape[1])]
            self.columns = list(array.T)
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"two columns are called {next(name for j, name in enumerate(self.names) if name in self.names[:j])}")
        if len({len(column) for column in self.columns}) > 1:
            raise ValueError("the columns have different numbers of rows")

    def write(self, folder: Path, stem: str = "table") -> list[Any]:
        """Write the table to folder; returns the program's words that read it."""
        kinds, cells = [], []
        for name, column in zip(self.names, self.columns):
            kind, levels, texts = self._kind(column)
            if kind:
                kinds.append([name, kind, levels])
            cells.append(texts)
        file = folder / f"{stem}.csv"
        with open(file, "w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out)
            writer.writerow(self.names)
            writer.writerows(zip(*cells))
        words: list[Any] = [file, "--sep=,", "--dec=.", "--na="]
        if kinds:
            listed = folder / f"{stem}.kinds.csv"
            with open(listed, "w", newline="", encoding="utf-8") as out:
                csv.writer(out).writerows([["column", "kind", "levels"], *kinds])
            words.append(f"--kinds={listed}")
        return words

    def _kind(self, column: Any) -> tuple[str, str, list[str]]:
        """The kind that the caller's type fixes ("" for none), its levels, and the cells as texts."""
        from ._program import _line
        dtype: Any = getattr(column, "dtype", None)
        missing = gaps(column)
        categories = getattr(dtype, "categories", None)
        if categories is not None:
            seen = {str(value) for value, gap in zip(column, missing) if not gap}
            levels = [str(level) for level in categories if str(level) in seen]
            kind = "" if not 2 <= len(levels) <= 50 else "ordered" if dtype.ordered else "binary" if len(levels) == 2 else "nominal"
            return kind, _line(levels), ["" if gap else str(value) for value, gap in zip(column, missing)]
        texts = ["" if gap else _text(value) for value, gap in zip(column, missing)]
        if not self.frame and isinstance(column, np.ndarray) and column.dtype.kind in "fiu":
            return "number", "", texts
        if getattr(dtype, "kind", "") == "b" and len(set(texts) - {""}) == 2:
            return "binary", _line(["False", "True"]), texts
        return "", "", texts

    def completed(self, file: Path) -> list[Any]:
        """The tables of a completed file, one for each draw: copies with their gaps filled."""
        rows, names = read(file)
        long = names[:1] == [".imp"]
        count = len(self.columns[0]) if self.columns else 0
        tables = []
        for at in range(count if long else 0, len(rows), max(count, 1)):
            block = rows[at : at + count]
            tables.append(self._filled({name: [row[j] for row in block] for j, name in enumerate(names)}))
        return tables

    def _filled(self, cells: Mapping[str, list[str]]) -> Any:
        filled = []
        for name, column in zip(self.names, self.columns):
            new, missing = cells.get(name), gaps(column)
            texts = {old for old in column if isinstance(old, str)}
            left = {""} if "NA" in texts else {"", "NA"}  # gaps, unless NA is a level
            values = None if new is None else [_value(text, column, bool(texts)) if gap and text not in left else None for text, gap in zip(new, missing)]
            if values is None or not any(value is not None for value in values):
                filled.append(column)
            elif self.frame:
                filled.append(_series(column, values))
            else:
                filled.append([old if value is None else value for old, value in zip(column, values)])
        if self.frame:
            import pandas
            frame = pandas.concat(filled, axis=1) if filled else self.of.copy()
            frame.columns = self.of.columns
            return frame
        if isinstance(self.of, Mapping):
            return dict(zip(self.of, filled))
        return np.column_stack(filled).astype(np.result_type(np.asarray(self.of).dtype, float))


def as_table(table: Any) -> Table:
    return table if isinstance(table, Table) else Table(table)


def gaps(column: Any) -> np.ndarray[Any, Any]:
    """The mask of missing cells: None, NaN, NaT, pandas.NA, empty texts."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "fiub":
        return np.isnan(column)
    if hasattr(column, "isna") and column.dtype.kind != "O":
        return np.asarray(column.isna())

    def gap(value: Any) -> bool:
        if isinstance(value, (str, float, np.floating)):
            return value == "" or value != value
        return value is None or type(value).__name__ in ("NAType", "NaTType")

    return np.array([gap(value) for value in column], bool)


def _text(value: Any) -> str:
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def _value(text: str, like: Any, texts: bool) -> Any:
    """A completed cell as a value of its column."""
    dtype = getattr(like, "dtype", None)
    categories = getattr(dtype, "categories", None)
    if categories is not None:
        return {str(level): level for level in categories}[text]
    if texts:
        return text
    if text in ("True", "False") and not isinstance(like, np.ndarray):
        return text == "True"
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if getattr(dtype, "kind", "") in "iu" and number.is_integer() else number


def _series(column: Any, values: list[Any]) -> Any:
    """The column with the values that are not None in their places."""
    import pandas
    out = column.copy()
    if any(isinstance(value, float) for value in values) and getattr(out.dtype, "kind", "") in "iu":
        out = out.astype("Float64")
    mask = np.array([value is not None for value in values])
    chosen = [value for value in values if value is not None]
    if out.dtype == object and all(isinstance(value, bool) for value in chosen):
        out[mask] = np.array(chosen, object)
        return out.infer_objects()
    out[mask] = chosen if hasattr(out.dtype, "categories") else pandas.array(chosen, dtype=out.dtype)
    return out


def read(file: os.PathLike[str]) -> tuple[list[list[str]], list[str]]:
    """The rows of a CSV file of the program and its names."""
    with open(file, newline="", encoding="utf-8") as lines:
        rows = list(csv.reader(lines))
    return rows[1:], rows[0]


def records(file: os.PathLike[str]) -> list[dict[str, Any]]:
    """The rows of a CSV file of the program, numbers as floats, empty cells as None."""

    def value(text: str) -> Any:
        try:
            return float(text) if text else None
        except ValueError:
            return text

    rows, names = read(file)
    return [{name: value(text) for name, text in zip(names, row)} for row in rows]
