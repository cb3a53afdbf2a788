// Package missingness shows what cells missing not at random do to an estimate, and what
// knowing how they are missing repairs: normal distributions with self-masked and with
// censored cells, fitted with the law that hid them, with a wrong one, or without any.
package missingness

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/harness"
	"missingscore/data/missingness"
	"missingscore/data/simulate"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
)

//go:embed config.json
var config []byte

// Experiment has a cell for each setting, law told, replicate and method.
var Experiment = harness.Experiment{
	Name: "missingness", Title: "Cells missing not at random", Source: "benchmarks/missingness/README.md",
	Settings: config, Grid: grid, Tables: tables, Claims: statements,
}

// settings are one size of config.json.
type settings struct {
	Replicates int           `json:"replicates"`
	Rows       int           `json:"rows"`
	Scenarios  []*scenario   `json:"settings"`
	Passes     []pass        `json:"passes"` // one after the other
	Fit        engine.Config `json:"fit"`    // what the methods have in common
	Ours       []string      `json:"ours"`
}

// pass is a part of training.
type pass struct {
	Rate   float64 `json:"rate"`
	Epochs int     `json:"epochs"`
}

// scenario is a distribution, what hides its cells, and what fits are told of it.
type scenario struct {
	Name      string          `json:"name"`
	Mean      []float64       `json:"mean"`
	Precision [][]float64     `json:"precision"`
	Law       json.RawMessage `json:"law"` // of missing cells, columns x1, x2, …
	Told      []told          `json:"told"`
	Methods   []string        `json:"methods"` // the last is what the others are compared with

	truth simulate.Gaussian
	by    *missingness.Model
}

// told is a law that fits take for the true one; without one, cells are missing
// completely at random.
type told struct {
	Name string          `json:"name"`
	Law  json.RawMessage `json:"law"`

	law *missingness.Model
}

// complete is what is told of tables without a gap, which method "full" is fitted to.
const complete = "no cell hidden"

func decode(text json.RawMessage) (s settings, err error) {
	if err = harness.Decode(text, &s); err != nil {
		return s, err
	}
	for _, p := range s.Passes {
		if err = harness.CheckTraining(p.Epochs, p.Rate); err != nil {
			return s, err
		}
	}
	for _, c := range s.Scenarios {
		if err = c.prepare(); err != nil {
			return s, fmt.Errorf("settings: %s: %w", c.Name, err)
		}
	}
	return s, cmp.Or(harness.CheckAtLeast(2, "rows", s.Rows), harness.CheckAtLeast(1, "passes", len(s.Passes)))
}

// prepare reads the distribution and the laws.
func (c *scenario) prepare() (err error) {
	d := len(c.Mean)
	p := mat.NewSymDense(max(d, 1), nil)
	var names []string
	for j := range d {
		names = append(names, "x"+strconv.Itoa(j+1))
		if len(c.Precision) != d || len(c.Precision[j]) != d {
			return fmt.Errorf("the precision is not %d × %d", d, d)
		}
		for k := range d {
			p.SetSym(j, k, c.Precision[j][k])
		}
	}
	if d < 1 || d > 2 || len(c.Told) == 0 || len(c.Methods) == 0 {
		return fmt.Errorf("one or two columns, something to tell and a method are needed")
	}
	c.truth = simulate.Gaussian{Mean: c.Mean, Precision: p}
	if c.by, err = missingness.Parse(c.Law, names); err != nil {
		return err
	}
	for i := range c.Told {
		if t := &c.Told[i]; t.Law != nil {
			if t.law, err = missingness.Parse(t.Law, names); err != nil {
				return err
			}
		}
	}
	for _, m := range c.Methods {
		if _, err := estimator.ByName(m); err != nil {
			return err
		}
	}
	return nil
}

// Columns of the results: the share of missing cells, and estimate less truth.
const (
	settingColumn = "setting"
	toldColumn    = "told"
	missingColumn = "missing"
)

// errorColumns are those of the mean of x1, its variance, P_11 and P_12.
var errorColumns = []string{"mean_error", "variance_error", "p11_error", "p12_error"}

func grid(text json.RawMessage, replicates int) (cells.Grid, error) {
	s, err := decode(text)
	if err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{Key: []string{settingColumn, toldColumn, "replicate", "method"}, Value: append([]string{missingColumn}, errorColumns...)}
	for _, c := range s.Scenarios {
		for _, f := range c.fits() {
			for replicate := 1; replicate <= replicates; replicate++ {
				g.Cells = append(g.Cells, cells.Cell{
					Key: []string{c.Name, f.told.Name, strconv.Itoa(replicate), f.method},
					Run: func(ctx context.Context) ([]string, error) { return s.run(ctx, c, f, uint64(replicate-1)) },
				})
			}
		}
	}
	return g, nil
}

// fit is what is told, and a method.
type fit struct {
	told
	method string
}

// fits are all of a setting: first that of the complete table.
func (c *scenario) fits() []fit {
	out := []fit{{told{Name: complete}, "full"}}
	for _, t := range c.Told {
		for _, m := range c.Methods {
			out = append(out, fit{t, m})
		}
	}
	return out
}
