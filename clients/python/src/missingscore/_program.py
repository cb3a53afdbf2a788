"""One call of the program: words and files in, one JSON object out (docs/reference/clients.md)."""

from __future__ import annotations

import csv
import functools
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Sequence

PROTOCOL = 1  # the version of docs/reference/clients.md that this package speaks

Progress = Optional[Callable[[str], None]]


class MissingScoreError(RuntimeError):
    """The program refused, or failed.

    code is "usage", "input", "interrupted" or "failed"; field is the flag, and file, line, column
    and cell are the place in the file; None where the message is about none. The message counts
    the rows of the caller's table from 0.
    """

    def __init__(self, answer: Mapping[str, Any]):
        super().__init__(_of_table(answer["error"]))
        self.code = answer.get("code", "failed")
        self.field = answer.get("field")
        self.file, self.line = answer.get("file"), answer.get("line")
        self.column, self.cell = answer.get("column"), answer.get("cell")


def _of_table(text: str) -> str:
    """A message about a file of Table.write as one about the table."""
    place = re.match(r".*missingscore-[^/\\]+[/\\]table\d*\.csv:(?:(\d+):)? ", text)
    if place is None:
        return text
    line = int(place[1] or 1)
    return (f"row {line - 2}: " if line > 1 else "the table: ") + text[place.end() :]


class UsageError(MissingScoreError, ValueError):
    """A setting that cannot be used: field names the flag."""


class MissingScoreWarning(UserWarning):
    """Something to know about a result, as a column that is left out."""


class NotReliableWarning(MissingScoreWarning):
    """The fit has not converged, or what it gives is not plausible: look before use."""


@functools.lru_cache(maxsize=None)
def _speaks(path: str) -> bool:
    said = subprocess.run([path, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return f"protocol {PROTOCOL}" in said.splitlines()


def program() -> str:
    """The path of the program: the environment variable MISSINGSCORE, or the PATH.

    Raises FileNotFoundError where there is none, RuntimeError where it is of another version.
    """
    named = os.environ.get("MISSINGSCORE")
    found = shutil.which(named or "missingscore")
    if found is None:
        raise FileNotFoundError(
            f"the variable MISSINGSCORE names {named}, which is no program"
            if named
            else "the program missingscore is not on the PATH: install it (go install missingscore/cmd/missingscore),"
            " or name it in the environment variable MISSINGSCORE"
        )
    if not _speaks(found):
        raise RuntimeError(f"{found} does not speak version {PROTOCOL} of the protocol: install the version of missingscore that this package belongs to")
    return found


def run(words: Sequence[Any], progress: Progress = None) -> dict[str, Any]:
    """Run the program with --json and return its object; exit is its exit code.

    progress is called with each line that the program prints meanwhile. Exit code 3 is a
    NotReliableWarning; errors raise MissingScoreError. KeyboardInterrupt ends the program, which
    saves what it can, before it is raised.
    """
    line = [program(), *map(str, words), "--json"]
    if progress is None:
        line.append("--quiet")
    child = subprocess.Popen(
        line,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,  # Ctrl-C reaches it once, from here
    )
    assert child.stdout is not None and child.stderr is not None
    stdout, stderr = child.stdout, child.stderr
    answers: list[str] = []
    reader = threading.Thread(target=lambda: answers.append(stdout.read()), daemon=True)
    reader.start()
    said = []
    try:
        for text in stderr:
            said.append(text.rstrip())
            if progress is not None:
                progress(said[-1])
        child.wait()
        reader.join()
    except BaseException:
        if os.name == "posix":
            child.send_signal(signal.SIGINT)
        else:
            child.terminate()
        child.wait()
        raise
    finally:
        if child.poll() is not None:
            stdout.close()
            stderr.close()
    try:
        answer: dict[str, Any] = json.loads(answers[0])
    except ValueError:
        raise MissingScoreError({"error": "\n".join(said[-5:]) or f"the program ended with code {child.returncode}"}) from None
    if "error" in answer:
        raise (UsageError if answer.get("code") == "usage" else MissingScoreError)(answer)
    answer["exit"] = child.returncode
    tell(answer)
    return answer


def tell(answer: Mapping[str, Any]) -> None:
    """Turn what an answer warns of into warnings, at the line of the caller, also through scikit-learn."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__package__")).split(".")[0] in (__package__, "sklearn", "joblib"):
        frame, level = frame.f_back, level + 1
    left_out = [f"{column['name'] or 'the first column'}: {column['left_out']}" for column in answer.get("left_out") or []]
    if left_out:
        warnings.warn("left out: " + "; ".join(left_out), MissingScoreWarning, stacklevel=level)
    for text in answer.get("warnings") or []:
        warnings.warn(text, MissingScoreWarning, stacklevel=level)
    if answer["exit"] == 3:
        warnings.warn(answer.get("verdict") or "the result is not reliable", NotReliableWarning, stacklevel=level)


def words(settings: Mapping[str, Any], folder: Path) -> list[str]:
    """Settings as flags; tables and objects among them are written to folder."""
    line = []
    for key, value in settings.items():
        name = key.rstrip("_").replace("_", "-")
        if value is None:
            continue
        if isinstance(value, Mapping):
            value = _mapping(name, value, folder)
        elif isinstance(value, (list, tuple, set, frozenset)) or hasattr(value, "tolist") and getattr(value, "ndim", 0) == 1:
            value = _line(value)
        if value is True:
            line.append(f"--{name}")
        else:
            line.append(f"--{name}={'false' if value is False else value}")
    return line


def _line(values: Any) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(values)
    return out.getvalue()


def _mapping(name: str, value: Mapping[str, Any], folder: Path) -> Any:
    if name.endswith("-options"):
        return json.dumps(value)
    if name in ("domain", "missingness", "config"):
        file = folder / f"{name}.json"
        file.write_text(json.dumps(value), encoding="utf-8")
        return file
    if name in ("groups", "labels"):  # of columns
        file = folder / f"{name}.csv"
        if all(isinstance(columns, (list, tuple)) for columns in value.values()):  # columns of each group
            value = {column: group for group, columns in value.items() for column in columns}
        with open(file, "w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([("name", name[:-1]), *value.items()])
        return file
    return _line(f"{key}={item}" for key, item in value.items())
