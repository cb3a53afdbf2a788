"""From a table with gaps to its network and to an analysis of imputed tables.

    python3 examples/python/network.py [FOLDER]

runs missingscore (of the PATH, or what the variable MISSINGSCORE names) on a simulated table
and goes on in pandas and networkx. Without these two it says what they would have added.
Results go to FOLDER, by default one that is removed in the end.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = os.environ.get("MISSINGSCORE", "missingscore")


def missingscore(*args):
    """Run a command that knows --json, and give its object."""
    words = [PROGRAM, *map(str, args), "--json", "--quiet"]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    answer = json.loads(done.stdout)
    if "error" in answer:  # with "file", "line", "column" and "cell" where it is about a cell
        raise RuntimeError(answer["error"])
    if done.returncode == 3:  # finished, but not converged or not plausible
        print("look before use:", answer.get("verdict") or answer["warnings"])
    return answer


def edges(folder):
    """The edges with intervals at 95 %, as rows of edges.csv."""
    with open(folder / "edges.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def strengths(folder):
    """Strength and betweenness of each node, by networkx."""
    try:
        import networkx
    except ImportError:
        print("networkx is not here: no centralities")
        return
    graph = networkx.read_graphml(folder / "network.graphml")
    names = {node: values.get("label", node) for node, values in graph.nodes(data=True)}
    for _, _, edge in graph.edges(data=True):
        edge["distance"] = 1 / edge["weight"]  # the weight is a size: strong edges are short
    strength = dict(graph.degree(weight="weight"))
    between = networkx.betweenness_centrality(graph, weight="distance", normalized=False)
    for node in sorted(strength, key=strength.get, reverse=True)[:3]:
        print(f"{names[node]}: strength {strength[node]:.3f}, betweenness {between[node]:.0f}")


def pooled_slope(file, response, predictor):
    """Regress in every imputed table, and combine by Rubin's rules (Rubin 1987, ch. 3)."""
    try:
        import numpy
        import pandas
    except ImportError:
        print("pandas is not here: no analysis of the imputed tables")
        return
    long = pandas.read_csv(file)
    estimates, variances = [], []
    for _, table in long[long[".imp"] > 0].groupby(".imp"):
        x = numpy.column_stack([numpy.ones(len(table)), table[predictor]])
        y = table[response].to_numpy()
        coefficients, residuals, _, _ = numpy.linalg.lstsq(x, y, rcond=None)
        covariance = numpy.linalg.inv(x.T @ x) * residuals[0] / (len(y) - 2)
        estimates.append(coefficients[1])
        variances.append(covariance[1, 1])
    m = len(estimates)
    total = numpy.mean(variances) + (1 + 1 / m) * numpy.var(estimates, ddof=1)
    print(f"{response} ~ {predictor}: slope {numpy.mean(estimates):.4f}, standard error {total**0.5:.4f}")


def main(folder):
    made = [PROGRAM, "simulate", "star", "--d", "8", "--n", "400", "--missing", "0.2", "--seed", "1", "--quiet"]
    subprocess.run([*made, "--out", str(folder / "in")], check=True)
    table = folder / "in" / "data.csv"

    about = missingscore(table)  # a table alone is described
    print(f"{about['rows']} rows, {len(about['columns'])} columns, {about['missing']} cells missing")

    result = missingscore("network", table, "--inference", "robust", "--out", folder / "network")
    print(f"{result['edges']} edges by {result['method']}")
    for edge in edges(folder / "network"):
        estimate, low, high = (float(edge[name]) for name in ("estimate", "low", "high"))
        print(f"{edge['from']} - {edge['to']}: {estimate:.3f} [{low:.3f}, {high:.3f}]")
    strengths(folder / "network")

    missingscore("impute", table, "--draws", 20, "--out", folder / "completed.csv")
    pooled_slope(folder / "completed.csv", "x2", "x1")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(Path(scratch))
