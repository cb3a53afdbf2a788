# Lays out networks by igraph's Fruchterman-Reingold, for layout/quality_test.go.
#   python3 networks.py DIR/network.json ... > networks.json
# Each file is one that missingscore network has written. Debian's python3-igraph.
import json
import os
import random
import sys

import igraph

out = []
for path in sys.argv[1:]:
    with open(path) as file:
        network = json.load(file)
    place = {name: i for i, name in enumerate(network["nodes"])}
    edges = [[place[e["from"]], place[e["to"]], round(e["weight"], 4)] for e in network["edges"]]
    graph = igraph.Graph(n=len(place), edges=[e[:2] for e in edges])
    random.seed(1)
    layout = graph.layout_fruchterman_reingold(weights=[e[2] for e in edges], niter=2000)
    out.append({
        "name": os.path.basename(os.path.dirname(path)), "nodes": network["nodes"], "edges": edges,
        "fruchterman_reingold": [[round(x, 3) for x in at] for at in layout.coords],
    })
print("[" + ",\n".join(json.dumps(n, separators=(",", ":")) for n in out) + "]")
