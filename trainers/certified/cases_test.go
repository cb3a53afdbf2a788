// Package certified compares fits of small tables with optima known to 20 digits by two routes
// outside the program (folder reference), as NIST's Statistical Reference Datasets.
package certified

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
)

//go:embed reference/*.csv reference/certified.json digits.json
var files embed.FS

type Case struct {
	Table, Method, Model   string
	Weights                string // the column of rows' weights; "" for none
	Bounds                 [][2]*float64
	HalfSpaces             []domain.HalfSpace `json:"half_spaces"`
	Lambda                 float64
	Condition              float64     // of the correlations, of a quartic model -theta: the largest eigenvalue over the smallest
	Loss                   json.Number // the least value; "" for an equation that is the gradient of none
	Mean, Precision, Theta []json.Number

	Promised Digits `json:"-"` // of digits.json
}

// Whole digits that the program finds: by default, and with a tight tolerance.
type Digits struct {
	Usual int `json:"usual"`
	Tight int `json:"tight,omitempty"` // 0 for networks, whose refinement is tight already
}

// Rounding ends a fit at this tolerance.
const tight = 1e-13

// 0.3 fewer digits than promised, one fewer for nearly singular tables: libraries and processors
// round differently.
func (c Case) Least() float64 {
	if c.Condition > nearlySingular {
		return float64(c.Promised.Usual) - 1
	}
	return float64(c.Promised.Usual) - 0.3
}

const nearlySingular = 1e6 // condition from which on rounding decides the last digit

func Cases() (cases []Case, err error) {
	var r route
	if err := read("reference/certified.json", &r); err != nil {
		return nil, err
	}
	var promised map[string]Digits
	err = read("digits.json", &promised)
	for i, c := range r.Cases {
		r.Cases[i].Promised = promised[c.Name()]
	}
	return r.Cases, err
}

type route struct {
	Tool  string // with its version
	Cases []Case
}

func read(name string, into any) error {
	text, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func (c Case) Name() string {
	name := c.Table + " | "
	switch {
	case c.Model != "":
		name += c.Model
	case c.Lambda > 0:
		name += fmt.Sprintf("network at λ = %g", c.Lambda)
	case c.Bounds != nil:
		name += "gaussian within bounds"
	case c.HalfSpaces != nil:
		name += "gaussian in a half-space"
	case c.Weights != "":
		name += "gaussian with weights"
	default:
		name += "gaussian"
	}
	return name + " | `" + c.Method + "`"
}

// tolerance 0 is the default; least is the fewest digits of the case's numbers.
func (c Case) Find(ctx context.Context, tolerance float64) (least float64, r *trainers.Result, err error) {
	table, err := c.rows()
	if err != nil {
		return 0, nil, err
	}
	spec := c.spec()
	spec.Descent.Tolerance = tolerance
	if r, err = trainers.Estimate(ctx, table, spec, trainers.Run{}); err != nil {
		return 0, nil, fmt.Errorf("%s: %w", c.Name(), err)
	}
	want, err := numbers(c.Mean, c.Precision, c.Theta)
	if err != nil {
		return 0, nil, err
	}
	got, err := c.found(r)
	if err == nil && len(got) != len(want) {
		err = fmt.Errorf("%s: %d numbers, and %d are certified", c.Name(), len(got), len(want))
	}
	if err != nil {
		return 0, nil, err
	}
	least = most
	for i := range want {
		least = min(least, agreeing(want[i], got[i]))
	}
	return least, r, nil
}

func (c Case) rows() (*data.Table, error) {
	name := "reference/" + c.Table + ".csv"
	text, err := files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if c.Weights == "" {
		return data.ParseCSV(bytes.NewReader(text), name, data.ReadOptions{})
	}
	table, err := data.ParseCSV(bytes.NewReader(text), name, data.ReadOptions{Exclude: []string{c.Weights}})
	if err != nil {
		return nil, err
	}
	weights, err := data.ParseCSV(bytes.NewReader(text), name, data.ReadOptions{Columns: []string{c.Weights}})
	if err != nil {
		return nil, err
	}
	return table.Weighted(weights.Values)
}

func numbers(lists ...[]json.Number) (out []float64, err error) {
	for _, list := range lists {
		for _, text := range list {
			v, err := strconv.ParseFloat(text.String(), 64)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
	}
	return out, nil
}

// In the units of the certified loss: losses of complete rows on R^d and the likelihood do not
// depend on units.
func (c Case) spec() trainers.Spec {
	s := trainers.Spec{Steps: engine.Config{Method: c.Method}, Model: trainers.ModelSpec{Kind: c.Model}}
	s.KeepUnits = c.Lambda == 0 && (c.Method == "exact" || c.Method == "zeroed") || c.Model != "" || c.Bounds != nil || c.HalfSpaces != nil
	if c.HalfSpaces != nil {
		s.Domain = domain.All(len(c.HalfSpaces[0].A))
		s.Domain.Half = c.HalfSpaces
	}
	if c.Bounds != nil {
		s.Domain = &domain.Domain{}
		for _, b := range c.Bounds {
			lower, upper := math.Inf(-1), math.Inf(1)
			if b[0] != nil {
				lower = *b[0]
			}
			if b[1] != nil {
				upper = *b[1]
			}
			s.Domain.Lower, s.Domain.Upper = append(s.Domain.Lower, lower), append(s.Domain.Upper, upper)
		}
	}
	if c.Lambda > 0 {
		s.Network = &regpath.Config{Penalty: regpath.Penalty{Kind: "l1"}, Lambdas: 10, LambdaMax: 10 * c.Lambda, LambdaMin: c.Lambda,
			Select: regpath.Selection{Kind: "none"}, Refit: new(false), Tolerance: 1e-12, RefineIter: 100000}
	}
	return s
}

// In the order of Mean, Precision, Theta.
func (c Case) found(r *trainers.Result) (out []float64, err error) {
	var p mat.Symmetric
	if c.Lambda > 0 {
		out, p = slices.Clone(r.Network.Mean), r.Network.Precision
	} else if q, ok := r.Model.Model.(*model.Quartic); ok {
		p = q.Theta()
	} else {
		normal, ok := model.AsNormal(r.Model.Model)
		if !ok {
			return nil, fmt.Errorf("%s: the model is not normal", c.Name())
		}
		out, p = normal.Mean(), normal.Precision()
	}
	for j := range p.SymmetricDim() {
		for k := j; k < p.SymmetricDim(); k++ {
			out = append(out, p.At(j, k))
		}
	}
	return out, nil
}

const most = 15.0 // digits that are counted

// −log₁₀ of the relative error, of the size where the truth is 0 (NIST's log relative error).
func agreeing(truth, found float64) float64 {
	gap := math.Abs(found - truth)
	if truth != 0 {
		gap /= math.Abs(truth)
	}
	return min(most, -math.Log10(max(gap, 1e-300)))
}
