package network

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// odd is seven's network with names that other programs may stumble over, and uncertainty.
func odd() *Network {
	n := seven()
	names := []string{`a "b" <c> & d`, "Größe, 身長", "مرحبا", "node", "x\\y;z", "1", " ", "😀"}
	renamed := map[string]string{}
	for i, name := range n.Nodes {
		renamed[name] = names[i]
	}
	n.Nodes = names
	for i, e := range n.Edges {
		u := Unknown(90)
		u.Estimate, u.Low, u.High, u.Q = e.PartialCorrelation, e.PartialCorrelation-0.1, e.PartialCorrelation+0.1, 0.01
		n.Edges[i] = Edge{From: renamed[e.From], To: renamed[e.To], PartialCorrelation: e.PartialCorrelation, Precision: -2 * e.PartialCorrelation, Uncertainty: &u}
	}
	n.Pairs = n.Edges
	return n
}

// written are the files of odd's network in a folder.
func written(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, write := range map[string]func(*Network, io.Writer) error{"n.graphml": (*Network).WriteGraphML, "n.dot": (*Network).WriteDOT, "n.json": (*Network).WriteJSON} {
		var b bytes.Buffer
		require.NoError(t, write(odd(), &b))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600))
	}
	return dir
}

// python runs a program where there is a Python with the module, Debian's or another.
func python(t *testing.T, module, program string) map[string]any {
	t.Helper()
	for _, name := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(name, "-c", "import "+module).Run() != nil {
			continue
		}
		command := exec.Command(name, "-c", program, written(t))
		command.Stderr = os.Stderr
		out, err := command.Output()
		require.NoError(t, err)
		found := map[string]any{}
		require.NoError(t, json.Unmarshal(out, &found))
		return found
	}
	t.Skipf("no Python with %s: apt-get install python3-%[1]s", module)
	return nil
}

// agrees compares a program's numbers, in the order of the nodes, with ours.
func agrees(t *testing.T, found any, of func(Centrality) float64) {
	t.Helper()
	ours, err := odd().Centralities()
	require.NoError(t, err)
	values := found.([]any)
	require.Len(t, values, len(ours))
	for i, c := range ours {
		require.InDelta(t, of(c), values[i].(float64), 1e-12)
	}
}

// igraph opens the GraphML and finds our strengths and betweennesses from weight.
func TestIgraphReads(t *testing.T) {
	found := python(t, "igraph", `
import sys, json, igraph
g = igraph.Graph.Read_GraphML(sys.argv[1] + "/n.graphml")
print(json.dumps(dict(names=g.vs["label"], directed=g.is_directed(), sign=g.es["sign"], q=g.es["q"], r=g.es["partial_correlation"], precision=g.es["precision"],
    strength=g.strength(weights="weight"), betweenness=g.betweenness(weights=[1 / w for w in g.es["weight"]]))))`)
	require.Equal(t, false, found["directed"])
	require.Equal(t, []any{"+", "-", "+", "+", "+", "-", "+"}, found["sign"])
	require.Equal(t, []any{0.5, -0.25, 0.25, 0.5, 0.4, -0.2, 0.1}, found["r"])
	require.Equal(t, []any{-1.0, 0.5, -0.5, -1.0, -0.8, 0.4, -0.2}, found["precision"])
	require.Equal(t, 0.01, found["q"].([]any)[0])
	for i, name := range odd().Nodes {
		require.Equal(t, name, found["names"].([]any)[i])
	}
	agrees(t, found["strength"], func(c Centrality) float64 { return c.Strength })
	agrees(t, found["betweenness"], func(c Centrality) float64 { return c.Betweenness })
}

// networkx opens GraphML and JSON and finds them, too.
func TestNetworkxReads(t *testing.T) {
	found := python(t, "networkx", `
import sys, json, networkx as nx
g = nx.read_graphml(sys.argv[1] + "/n.graphml")
for _, _, e in g.edges(data=True):
    e["length"] = 1 / e["weight"]
order = [f"n{i}" for i in range(g.number_of_nodes())]
b = nx.betweenness_centrality(g, weight="length", normalized=False)
d = json.load(open(sys.argv[1] + "/n.json"))
j = nx.Graph()
j.add_nodes_from(d["nodes"])
j.add_edges_from((e["from"], e["to"], e) for e in d["edges"])
print(json.dumps(dict(names=[g.nodes[i]["label"] for i in order], strength=[g.degree(i, weight="weight") for i in order],
    betweenness=[b[i] for i in order], json=[j.degree(i, weight="weight") for i in d["nodes"]])))`)
	for i, name := range odd().Nodes {
		require.Equal(t, name, found["names"].([]any)[i])
	}
	agrees(t, found["strength"], func(c Centrality) float64 { return c.Strength })
	agrees(t, found["betweenness"], func(c Centrality) float64 { return c.Betweenness })
	agrees(t, found["json"], func(c Centrality) float64 { return c.Strength })
}

// Graphviz reads the DOT, without a warning, and has every name and attribute.
func TestGraphvizReads(t *testing.T) {
	if _, err := exec.LookPath("dot"); err != nil {
		t.Skip("no Graphviz: apt-get install graphviz")
	}
	var complaints bytes.Buffer
	command := exec.Command("dot", "-Tjson", filepath.Join(written(t), "n.dot"))
	command.Stderr = &complaints
	out, err := command.Output()
	require.NoError(t, err, complaints.String())
	require.Empty(t, complaints.String())
	var found struct {
		Directed bool
		Objects  []struct{ Name string }
		Edges    []map[string]any
	}
	require.NoError(t, json.Unmarshal(out, &found))
	var names []string
	for _, o := range found.Objects {
		names = append(names, o.Name)
	}
	require.ElementsMatch(t, []string{`a "b" <c> & d`, "Größe, 身長", "مرحبا", "node", `x\\y;z`, "1", " ", "😀"}, names, "Graphviz keeps a backslash escaped, for its labels")
	require.False(t, found.Directed)
	require.Len(t, found.Edges, 7)
	require.Equal(t, "0.5", found.Edges[0]["weight"])
	require.Equal(t, "solid", found.Edges[0]["style"])
}

// The GraphML keeps to its schema (http://graphml.graphdrawing.org/xmlns/1.1/graphml.xsd), as far
// as Gephi's importer asks for it: keys come first and say what they are for and of which type,
// every data names a key that is declared for its element, identities are NMTOKENs and unique, and edges
// join nodes that are there.
func TestGraphMLKeepsToItsSchema(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(written(t), "n.graphml"))
	require.NoError(t, err)
	var g graphML
	require.NoError(t, xml.Unmarshal(content, &g))
	require.Equal(t, "http://graphml.graphdrawing.org/xmlns", g.XMLName.Space)
	require.Regexp(t, regexp.MustCompile(`(?s)^[^/]*<graphml [^>]*>\s*(<key [^>]*></key>\s*)+<graph [^>]*>`), string(content))
	token, ids := regexp.MustCompile(`^[\w.:-]+$`), map[string]bool{}
	unique := func(id string) {
		require.Regexp(t, token, id)
		require.False(t, ids[id], "%s twice", id)
		ids[id] = true
	}
	is := map[string]string{}
	for _, k := range g.Keys {
		unique("key:" + k.ID)
		require.Contains(t, []string{"boolean", "int", "long", "float", "double", "string"}, k.Type)
		require.Contains(t, []string{"node", "edge"}, k.For)
		is[k.ID] = k.For
	}
	require.Contains(t, []string{"directed", "undirected"}, g.Graph.EdgeDefault)
	check := func(kind string, o graphMLObject) {
		unique(o.ID)
		var keys []string
		for _, d := range o.Data {
			require.Equal(t, kind, is[d.Key], d.Key)
			require.False(t, slices.Contains(keys, d.Key))
			keys = append(keys, d.Key)
		}
	}
	for _, o := range g.Graph.Nodes {
		check("node", o)
	}
	for _, o := range g.Graph.Edges {
		check("edge", o)
		require.True(t, ids[o.Source] && ids[o.Target])
	}
}
