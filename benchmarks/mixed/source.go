package mixed

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/outside"
	"missingscore/data"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
)

//go:embed tables.R
var tablesScript []byte

//go:embed tables.py
var sklearnTablesScript []byte

var (
	rTables       = outside.R("tables.R", tablesScript, "mice", "psych")
	sklearnTables = outside.Python("tables.py", sklearnTablesScript, "sklearn", "numpy")
)

// Source is a table of an R package or of scikit-learn, or a simulated one per replicate (Design or
// Made).
type Source struct {
	Name    string   `json:"name"`
	Sklearn bool     `json:"sklearn"` // a table of scikit-learn
	Columns []string `json:"columns"` // empty: all
	Factors []string `json:"factors"` // numeric columns that hold levels
	Rows    int      `json:"rows"`    // number of rows, drawn once; 0: all
	Design  *design  `json:"design"`
	Made    string   `json:"made"` // a key of made
}

var made = map[string]func(n int, rng *rand.Rand) (*data.Table, error){
	"normal": func(n int, rng *rand.Rand) (*data.Table, error) {
		g, err := simulate.Dense(8, rng)
		if err != nil {
			return nil, err
		}
		return g.Sample(n, rng)
	},
	"ring":   simulate.Ring().Sample,
	"curved": curved,
}

// curved draws a, b, c ~ N(0, 1), then a² − 1, sin 2b, ac, |b| and exp(c/2), with noise of standard
// deviation 0.3.
func curved(n int, rng *rand.Rand) (*data.Table, error) {
	var values []float64
	for range n {
		a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		values = append(values, a, b, c)
		for _, x := range []float64{a*a - 1, math.Sin(2 * b), a * c, math.Abs(b), math.Exp(c / 2)} {
			values = append(values, x+0.3*rng.NormFloat64())
		}
	}
	return data.NewTable(names(8), values, nil)
}

var kept = harness.NewRecentCache[string, *data.Table](20)

// Table returns the table before cells are hidden.
func (s Source) Table(ctx context.Context, seed uint64) (*data.Table, error) {
	switch {
	case s.Design != nil:
		_, t, err := s.Design.simulate(seed)
		return t, err
	case s.Made != "":
		t, err := made[s.Made](s.Rows, stream.New(seed, stream.Simulate))
		if err == nil {
			t.Kinds, t.Levels = slices.Repeat([]data.Kind{data.Number}, t.D), make([][]string, t.D)
		}
		return t, err
	}
	return kept.Get(fmt.Sprint(s), func() (*data.Table, error) { return s.read(ctx) })
}

func (s Source) read(ctx context.Context) (*data.Table, error) {
	none := &data.Table{Names: []string{"none"}, N: 1, D: 1, Values: []float64{0}, Observed: []bool{true}}
	script := rTables
	if s.Sklearn {
		script = sklearnTables
	}
	lines, printed, err := script.Run(ctx, none, s.Name, strings.Join(s.Columns, ","), strings.Join(s.Factors, ","), strconv.Itoa(s.Rows))
	if err != nil {
		return nil, err
	}
	t := &data.Table{N: len(lines)}
	for line := range strings.Lines(printed) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		t.Names, t.Kinds, t.Levels = append(t.Names, fields[0]), append(t.Kinds, data.Kind(fields[1])), append(t.Levels, fields[2:])
		if len(fields) == 2 {
			t.Levels[t.D] = nil
		}
		t.D++
	}
	for _, line := range lines {
		for _, x := range line {
			t.Values, t.Observed = append(t.Values, x), append(t.Observed, !math.IsNaN(x))
		}
	}
	return t, nil
}
