package mixed

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/graphs"
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
	Settings: networkSettings, Grid: harness.Of(networkGrid),
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

func networkGrid(s networkConfig, replicates int) (harness.Grid, error) {
	g := harness.Grid{
		Key:   []string{"network", "law", "replicate", "method"},
		Value: []string{"failed", "edges", "f1", "false_discoveries", "true_discoveries", "seconds", "version"},
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, d := range s.Designs {
			for _, law := range s.Laws {
				for _, m := range s.Methods {
					if m.Rows != "mice" || law.Missing > 0 {
						g.Add(func(ctx context.Context) ([]string, error) { return m.run(ctx, d, law, uint64(replicate)) },
							d, law.Name, replicate, m.Name)
					}
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
	return []string{"0", strconv.Itoa(edges), number(graphs.F1(truth, found)), number(wrong),
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
	lines, err := outside.Lines(filepath.Join(out, "edges.csv"))
	if err != nil {
		return found, "", "", err
	}
	var pairs [][]float64
	for _, line := range lines[1:] {
		pairs = append(pairs, []float64{float64(slices.Index(t.Names, line[0])), float64(slices.Index(t.Names, line[1]))})
	}
	return graphs.Joined(pairs, t.D), fmt.Sprintf("%.2f", seconds), version, nil
}

// Without edges if mgm rejects the table.
func (m networkMethod) byMGM(ctx context.Context, t *data.Table, seed uint64) (found network.Adjacency, spent, version string, err error) {
	if version, err = mgm.Version(); err != nil {
		return found, "", "", err
	}
	lines, printed, err := mgm.Run(ctx, t, Kinds(t), m.Rows, strconv.FormatUint(seed, 10))
	spent = strings.TrimSpace(printed)
	if err != nil || len(lines) > 0 && math.IsNaN(lines[0][0]) {
		return found, spent, version, err
	}
	for _, pair := range lines { // R counts columns from 1
		pair[0]--
		pair[1]--
	}
	return graphs.Joined(lines, t.D), spent, version, nil
}
