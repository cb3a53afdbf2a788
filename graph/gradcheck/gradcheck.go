// Package gradcheck compares gradients with central differences, in float64.
package gradcheck

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"missingscore/graph"
	"missingscore/graph/model"
)

// Step is the default relative step of central differences, the cube root of the machine precision.
const Step = 6e-6

// Difference is the largest error found and its position.
type Difference struct {
	Error    float64 // |exact − numeric| / max(1, |numeric|)
	Where    string
	Exact    float64
	Numeric  float64
	Compared int // numbers compared
}

func (d *Difference) see(exact, numeric float64, where string, args ...any) {
	d.Compared++
	e := math.Abs(exact-numeric) / math.Max(1, math.Abs(numeric))
	if !(e <= d.Error) { // NaN counts as the largest
		d.Error, d.Exact, d.Numeric = e, exact, numeric
		d.Where = fmt.Sprintf(where, args...)
	}
}

// Params compares p's gradient with central differences of value, which evaluates the same function.
func Params(p *graph.Program, params []*graph.Param, step float64, value func() (float64, error)) (Difference, error) {
	var d Difference
	if err := p.Run(); err != nil {
		return d, err
	}
	exact := make([][]float64, len(params))
	for i, q := range params {
		exact[i] = append([]float64(nil), p.Grad(q)...)
	}
	for i, q := range params {
		for j, old := range q.Value {
			h := step * math.Max(1, math.Abs(old))
			q.Value[j] = old + h
			up, err := value()
			if err != nil {
				return d, err
			}
			q.Value[j] = old - h
			down, err := value()
			if err != nil {
				return d, err
			}
			q.Value[j] = old
			d.see(exact[i][j], (up-down)/(2*h), "%s[%d]", q.Name, j)
		}
	}
	return d, nil
}

// Model compares a model's score with differences of its log density, and its diagonal with
// differences of its score, at the rows of x (n, d). Compared is 0 for parts that the model does not have.
func Model(m model.Model, x []float64, step float64) (score, diagonal Difference, err error) {
	d := m.Dim()
	for j := range d {
		v := make([]float64, len(x))
		for i := j; i < len(v); i += d {
			v[i] = 1
		}
		at, slope, err := along(m, x, v, step, false)
		if err != nil {
			return score, diagonal, err
		}
		for i, numeric := range slope["log density"] {
			score.see(at["score"][i*d+j], numeric, "row %d, column %d", i, j)
		}
		for i := j; i < len(at["diagonal"]); i += d {
			diagonal.see(at["diagonal"][i], slope["score"][i], "row %d, column %d", i/d, j)
		}
	}
	return score, diagonal, nil
}

// HessianProduct compares H v with central differences of the score along v, at rows x and v (n, d).
func HessianProduct(m model.Model, x, v []float64, step float64) (diff Difference, err error) {
	at, slope, err := along(m, x, v, step, true)
	for i, exact := range at["product"] {
		diff.see(exact, slope["score"][i], "row %d, column %d", i/m.Dim(), i%m.Dim())
	}
	return diff, err
}

// along returns the parts of a model at x, and their central differences along v.
func along(m model.Model, x, v []float64, step float64, product bool) (at, slope map[string][]float64, err error) {
	d := m.Dim()
	n := len(x) / d
	p, err := graph.Build(func(b *graph.Builder) {
		t := model.Evaluate(b, m, b.Input("x", n, d))
		b.Output("score", t.NeedScore(b))
		if t.LogDensity != nil {
			b.Output("log density", t.LogDensity)
		}
		if t.Diagonal != nil {
			b.Output("diagonal", t.Diagonal)
		}
		if product {
			b.Output("product", t.NeedHessianProduct(b)(b.Constant(n, d, v)))
		}
	})
	if err != nil {
		return nil, nil, err
	}
	slope = map[string][]float64{}
	for _, h := range []float64{step, -step, 0} {
		floats.AddScaledTo(p.Input("x"), x, h, v)
		if err := p.Run(); err != nil {
			return nil, nil, err
		}
		at = map[string][]float64{}
		for _, name := range []string{"log density", "score", "diagonal", "product"} {
			if !p.HasOutput(name) {
				continue
			}
			at[name] = p.Output(name)
			if h != 0 {
				slope[name] = append(slope[name], make([]float64, len(at[name])-len(slope[name]))...)
				floats.AddScaled(slope[name], 0.5/h, at[name])
			}
		}
	}
	return at, slope, nil
}
