package mixed

import (
	"context"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/outside"
	"missingscore/data"
	"missingscore/internal/data/network"
)

//go:embed networks.json
var networkSettings []byte

//go:embed mgm.R
var mgmScript []byte

var mgm = outside.R("mgm.R", mgmScript, "mgm", "mice")

var Networks = harness.Experiment{
	Name: "mixed-networks", Title: "Networks of mixed tables", Source: "benchmarks/README.md",
	Settings: networkSettings, Grid: networkGrid,
}

type networkConfig struct {
	Replicates int             `json:"replicates"`
	Designs    []design        `json:"designs"`
	Laws       []gaps.Law      `json:"laws"`
	Methods    []networkMethod `json:"methods"`
	Ours       []string        `json:"ours"`
}

// networkMethod is missingscore network with further arguments, or mgm.
type networkMethod struct {
	Name      string   `json:"name"`
	Rows      string   `json:"rows"`      // for mgm: complete, or mice for one imputation; empty: missingscore
	Coded     bool     `json:"coded"`     // pass levels as numbers
	Arguments []string `json:"arguments"` // of missingscore network
}

func networkGrid(text json.RawMessage, replicates int) (cells.Grid, error) {
	var s networkConfig
	if err := harness.Decode(text, &s); err != nil {
		return cells.Grid{}, err
	}
	for _, d := range s.Designs {
		if truths[d.Truth] == nil {
			return cells.Grid{}, fmt.Errorf("settings: there is no truth %q", d.Truth)
		}
	}
	g := cells.Grid{
		Key:   []string{"network", "law", "replicate", "method"},
		Value: []string{"failed", "edges", "f1", "false_discoveries", "true_discoveries", "seconds", "version"},
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, d := range s.Designs {
			for _, law := range s.Laws {
				for _, m := range s.Methods {
					if m.Rows == "mice" && law.Missing == 0 {
						continue
					}
					g.Cells = append(g.Cells, cells.Cell{
						Key: []string{d.String(), law.Name, strconv.Itoa(replicate), m.Name},
						Run: func(ctx context.Context) ([]string, error) { return m.run(ctx, d, law, uint64(replicate)) },
					})
				}
			}
		}
	}
	return g, nil
}

// failed is 1 without a network.
func (m networkMethod) run(ctx context.Context, d design, law gaps.Law, seed uint64) ([]string, error) {
	truth, whole, err := d.simulate(seed)
	if err != nil {
		return nil, err
	}
	t, err := Hide(law, whole, seed)
	if err != nil {
		return nil, err
	}
	estimate := m.byProgram
	if m.Rows != "" {
		estimate = m.byMGM
	}
	found, spent, version, err := estimate(ctx, t, seed)
	if err != nil {
		return nil, err
	}
	if found.Edge == nil {
		return []string{"1", Unknown, Unknown, Unknown, Unknown, spent, version}, nil
	}
	right, edges := 0, found.Count()
	for at, is := range found.Edge {
		if is && truth.Edge[at] {
			right++
		}
	}
	wrong := float64(edges-right) / math.Max(1, float64(edges))
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', 5, 64) }
	return []string{"0", strconv.Itoa(edges), number(network.F1(truth, found)), number(wrong),
		number(float64(right) / float64(truth.Count())), spent, version}, nil
}

func (m networkMethod) byProgram(ctx context.Context, t *data.Table, seed uint64) (found network.Adjacency, spent, version string, err error) {
	if version, err = Version(); err != nil {
		return found, "", "", err
	}
	dir, err := os.MkdirTemp("", "mixed")
	if err != nil {
		return found, "", "", err
	}
	defer os.RemoveAll(dir)
	var ordered []string
	for j, k := range t.Kinds {
		if k == data.Ordered && !m.Coded {
			ordered = append(ordered, t.Names[j])
		}
	}
	table, out := filepath.Join(dir, "table.csv"), filepath.Join(dir, "network")
	arguments := slices.Concat([]string{"network", table, "--out", out, "--seed", strconv.FormatUint(seed, 10)}, m.Arguments)
	if len(ordered) > 0 {
		arguments = append(arguments, "--ordinal", strings.Join(ordered, ","))
	}
	if m.Coded {
		t = Codes(t)
	}
	if err := Write(table, t); err != nil {
		return found, "", "", err
	}
	seconds, err := Run(ctx, arguments...)
	if err != nil {
		return found, "", "", err
	}
	found, err = readEdges(filepath.Join(out, "edges.csv"), t.Names)
	return found, fmt.Sprintf("%.2f", seconds), version, err
}

// readEdges reads the first two columns of edges.csv.
func readEdges(path string, names []string) (network.Adjacency, error) {
	f, err := os.Open(path)
	if err != nil {
		return network.Adjacency{}, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return network.Adjacency{}, err
	}
	var pairs [][]float64
	for _, line := range lines[1:] {
		pairs = append(pairs, []float64{float64(slices.Index(names, line[0]) + 1), float64(slices.Index(names, line[1]) + 1)})
	}
	return joined(pairs, len(names))
}

// joined returns pairs of columns, numbered from 1.
func joined(pairs [][]float64, d int) (network.Adjacency, error) {
	a := network.Adjacency{D: d, Edge: make([]bool, d*(d-1)/2)}
	for _, p := range pairs {
		j, k := int(min(p[0], p[1]))-1, int(max(p[0], p[1]))-1
		if j < 0 || j == k || k >= d {
			return a, fmt.Errorf("there is no pair %v of %d columns", p, d)
		}
		a.Edge[j*(2*d-j-1)/2+k-j-1] = true
	}
	return a, nil
}

// Without edges if mgm rejects the table.
func (m networkMethod) byMGM(ctx context.Context, t *data.Table, seed uint64) (found network.Adjacency, spent, version string, err error) {
	if version, err = mgm.Version(); err != nil {
		return found, "", "", err
	}
	lines, printed, err := mgm.Run(ctx, Codes(t), strings.Join(Kinds(t), ","), m.Rows, strconv.FormatUint(seed, 10))
	if err != nil {
		return found, "", "", err
	}
	if len(lines) > 0 && math.IsNaN(lines[0][0]) {
		return found, strings.TrimSpace(printed), version, nil
	}
	found, err = joined(lines, t.D)
	return found, strings.TrimSpace(printed), version, err
}
