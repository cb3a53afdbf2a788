// Package certified has small tables with gaps whose optima are known to 20 digits, found by
// certify.py in 60, and says how many digits of them the program finds, in the manner of
// NIST's Statistical Reference Datasets (docs/reference/digits.md).
package certified

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/path"
)

//go:embed *.csv certified.json digits.json
var files embed.FS

// Case is an optimum that certify.py has found.
type Case struct {
	Table, Method, Model   string
	Bounds                 [][2]*float64
	Lambda                 float64
	Mean, Precision, Theta []json.Number

	Promised int `json:"-"` // digits, of digits.json
}

// Cases are all of them.
func Cases() (cases []Case, err error) {
	text, err := files.ReadFile("certified.json")
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil {
		return nil, err
	}
	var promised map[string]int
	if text, err = files.ReadFile("digits.json"); err == nil {
		err = json.Unmarshal(text, &promised)
	}
	for i, c := range cases {
		cases[i].Promised = promised[c.Name()]
	}
	return cases, err
}

// Name of the case in a table of digits.
func (c Case) Name() string {
	name := c.Table + " | "
	switch {
	case c.Model != "":
		name += c.Model
	case c.Lambda > 0:
		name += fmt.Sprintf("network at λ = %g", c.Lambda)
	case c.Bounds != nil:
		name += "gaussian within bounds"
	default:
		name += "gaussian"
	}
	return name + " | `" + c.Method + "`"
}

// Digits are those that the program finds, the fewest of the case's numbers, and the estimate.
func (c Case) Digits(ctx context.Context) (least float64, r *trainers.Result, err error) {
	name := c.Table + ".csv"
	text, err := files.ReadFile(name)
	if err != nil {
		return 0, nil, err
	}
	table, err := data.ParseCSV(bytes.NewReader(text), name, data.ReadOptions{})
	if err != nil {
		return 0, nil, err
	}
	if r, err = trainers.Estimate(ctx, table, c.spec(), trainers.Run{}); err != nil {
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

// spec of the case, in the units that its loss was certified in: losses of complete rows on
// all of R^d and the likelihood do not depend on units, the others are in the table's.
func (c Case) spec() trainers.Spec {
	s := trainers.Spec{Steps: engine.Config{Method: c.Method}, Model: trainers.ModelSpec{Kind: c.Model}}
	s.KeepUnits = c.Method == "exact" || c.Model != "" || c.Bounds != nil
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
		s.Network = &path.Config{Penalty: path.Penalty{Kind: "l1"}, Lambdas: 10, LambdaMax: 10 * c.Lambda, LambdaMin: c.Lambda,
			Select: path.Selection{Kind: "none"}, Refit: new(false), Tolerance: 1e-12, RefineIter: 100000}
	}
	return s
}

// found are a result's numbers in the order of Mean, Precision, Theta.
func (c Case) found(r *trainers.Result) (out []float64, err error) {
	var p mat.Symmetric
	if c.Lambda > 0 {
		p = r.Network.Precision
		if out, err = numbers(c.Mean); err != nil { // of a path without gaps the observed ones
			return nil, err
		}
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

// agreeing are the digits in common: −log₁₀ of the relative error, of the size where the truth
// is 0 (NIST's log relative error).
func agreeing(truth, found float64) float64 {
	gap := math.Abs(found - truth)
	if truth != 0 {
		gap /= math.Abs(truth)
	}
	return min(most, -math.Log10(max(gap, 1e-300)))
}
