// Package imputation compares draws of missingscore and of methods in R and Python with hidden
// cells.
package imputation

import (
	"context"
	_ "embed"
	"fmt"
	"slices"

	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/mixed"
	"missingscore/data"
	"missingscore/internal/stream"
)

//go:embed config.json
var settings []byte

//go:embed mixed.json
var mixedSettings []byte

// Experiment imputes in and out of sample, as in the literature on neural imputers.
var Experiment = harness.Experiment{
	Name: "imputation", Title: "Imputations in and out of sample", Source: "docs/how-to/which-imputation.md",
	Settings: settings, Grid: harness.Of(grid),
}

var Mixed = harness.Experiment{
	Name: "mixed-imputation", Title: "Imputations of mixed tables", Source: "benchmarks/README.md",
	Settings: mixedSettings, Grid: harness.Of(grid),
}

type config struct {
	Replicates int            `json:"replicates"`
	Tables     []mixed.Source `json:"tables"`
	Laws       []gaps.Law     `json:"laws"`
	Test       float64        `json:"test"` // share of rows that are imputed out of sample
	Draws      int            `json:"draws"`
	Methods    []method       `json:"methods"`
	Ours       []string       `json:"ours"`
}

// grid is by replicate, then method; methods with fewer replicates come last. Values are of the
// fitted rows, with prefix out_ of the others.
func grid(c config, replicates int) (harness.Grid, error) {
	g := harness.Grid{Key: []string{"table", "law", "replicate", "method"}, Value: slices.Clone(measures)}
	if c.Test > 0 {
		for _, name := range measures {
			g.Value = append(g.Value, "out_"+name)
		}
	}
	g.Value = append(g.Value, "seconds", "version")
	add := func(m method, replicate int) {
		for _, from := range c.Tables {
			for _, law := range c.Laws {
				if !skips(m.Tables, from.Name) && !skips(m.Laws, law.Name) {
					g.Add(func(ctx context.Context) ([]string, error) { return c.run(ctx, from, law, m, uint64(replicate)) },
						from.Name, law.Name, replicate, m.Name)
				}
			}
		}
	}
	for _, few := range []bool{false, true} {
		for replicate := 1; replicate <= replicates; replicate++ {
			for _, m := range c.Methods {
				if few == (m.Replicates > 0) && (!few || replicate <= m.Replicates) {
					add(m, replicate)
				}
			}
		}
	}
	return g, nil
}

func skips(only []string, name string) bool { return only != nil && !slices.Contains(only, name) }

func (c config) run(ctx context.Context, from mixed.Source, law gaps.Law, m method, seed uint64) ([]string, error) {
	whole, err := from.Table(ctx, seed)
	if err != nil {
		return nil, err
	}
	train := whole.N - int(c.Test*float64(whole.N))
	if train < whole.N {
		whole = rows(whole, stream.New(seed, stream.Shuffle).Perm(whole.N))
	}
	t, err := mixed.Hide(law, whole, seed)
	if err != nil {
		return nil, err
	}
	fill := m.byProgram
	if m.Script != nil {
		fill = m.byScript
	}
	draws, spent, version, err := fill(ctx, t, train, c.Draws, seed)
	if err != nil {
		return nil, err
	}
	refused := false
	if len(draws) != t.Missing() {
		if refused = len(draws) == rows(t, numbers(0, train)).Missing(); !refused {
			return nil, fmt.Errorf("%s imputed %d of %d cells", m.Name, len(draws), t.Missing())
		}
	}
	values := measure(whole, t, draws, 0, train)
	switch {
	case refused:
		values = append(values, slices.Repeat([]string{mixed.Unknown}, len(measures))...)
	case c.Test > 0:
		values = append(values, measure(whole, t, draws, train, whole.N)...)
	}
	return append(values, spent, version), nil
}

// numbers returns first, …, last − 1.
func numbers(first, last int) (out []int) {
	for i := first; i < last; i++ {
		out = append(out, i)
	}
	return out
}

func rows(t *data.Table, which []int) *data.Table {
	some := *t
	some.N, some.Values, some.Observed = len(which), nil, nil
	for _, i := range which {
		some.Values = append(some.Values, t.Values[i*t.D:(i+1)*t.D]...)
		some.Observed = append(some.Observed, t.Observed[i*t.D:(i+1)*t.D]...)
	}
	return &some
}
