package imputation

import (
	"fmt"
	"math"
	"math/rand/v2"

	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
)

// table says where rows come from: from a file, the same in all replicates, or from a
// distribution, new ones in each.
type table struct {
	Name    string   `json:"name"`
	File    string   `json:"file"`
	Kind    string   `json:"kind"`    // of a file: "table" or "returns" (of a long table of prices); else a name of distributions
	Columns []string `json:"columns"` // of a file
	Count   int      `json:"count"`   // columns of a distribution
	Rows    int      `json:"rows"`    // of a file that has more: so many, chosen at random once

	path string
}

// distributions draw complete rows and say their support, nil for all of R^d.
var distributions = map[string]func(d, n int, rng *rand.Rand) (*data.Table, *domain.Domain, error){
	"star":  normal(simulate.Star),
	"dense": normal(simulate.Dense),
	// the exponentials of a star's columns: each log normal
	"skewed": func(d, n int, rng *rand.Rand) (*data.Table, *domain.Domain, error) {
		t, _, err := normal(simulate.Star)(d, n, rng)
		if err != nil {
			return nil, nil, err
		}
		for k, x := range t.Values {
			t.Values[k] = math.Exp(x)
		}
		return t, nil, nil
	},
	// a star, all its columns above their 20 % quantiles
	"truncated": func(d, n int, rng *rand.Rand) (*data.Table, *domain.Domain, error) {
		g, err := simulate.Star(d, rng)
		if err != nil {
			return nil, nil, err
		}
		s, err := g.TruncateBelow(d, 0.2)
		if err != nil {
			return nil, nil, err
		}
		t, err := g.SampleInside(s, n, rng)
		return t, s, err
	},
	"moons": func(_, n int, rng *rand.Rand) (*data.Table, *domain.Domain, error) {
		t, err := simulate.Moons().Sample(n, rng)
		return t, nil, err
	},
	"modes": func(d, n int, rng *rand.Rand) (*data.Table, *domain.Domain, error) {
		t, err := simulate.Modes(d, 4, rng).Sample(n, rng)
		return t, nil, err
	},
}

func normal(network func(d int, rng *rand.Rand) (simulate.Gaussian, error)) func(d, n int, rng *rand.Rand) (*data.Table, *domain.Domain, error) {
	return func(d, n int, rng *rand.Rand) (*data.Table, *domain.Domain, error) {
		g, err := network(d, rng)
		if err != nil {
			return nil, nil, err
		}
		t, err := g.Sample(n, rng)
		return t, nil, err
	}
}

func (t table) check() error {
	if t.File != "" {
		if t.Kind != "table" && t.Kind != "returns" {
			return fmt.Errorf("a file of kind %q: kinds are table, returns", t.Kind)
		}
		return nil
	}
	if distributions[t.Kind] == nil {
		return fmt.Errorf("there is no distribution %q", t.Kind)
	}
	if t.Count < 2 || t.Rows < 2 {
		return fmt.Errorf("%d columns and %d rows: two of each are needed at least", t.Count, t.Rows)
	}
	return nil
}

// rows are a replicate's, before cells are hidden, with their support.
func (t table) rows(seed uint64) (*data.Table, *domain.Domain, error) {
	if t.File == "" {
		return distributions[t.Kind](t.Count, t.Rows, stream.New(seed, stream.Simulate))
	}
	if err := harness.Present(t.path); err != nil {
		return nil, nil, err
	}
	whole, err := t.read()
	if err != nil || t.Rows == 0 || whole.N <= t.Rows {
		return whole, nil, err
	}
	chosen := stream.New(1, stream.Shuffle).Perm(whole.N)[:t.Rows]
	var values []float64
	var observed []bool
	for _, i := range chosen {
		values = append(values, whole.Values[i*whole.D:(i+1)*whole.D]...)
		observed = append(observed, whole.Observed[i*whole.D:(i+1)*whole.D]...)
	}
	some, err := data.NewTable(whole.Names, values, observed)
	return some, nil, err
}

func (t table) read() (*data.Table, error) {
	if t.Kind == "returns" {
		return harness.Prices(t.path, t.Columns, true)
	}
	return data.ReadCSV(t.path, data.ReadOptions{Columns: t.Columns})
}
