// Package gradcheck compares gradients with central differences, in float64.
package gradcheck

import (
	"fmt"
	"math"

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
	n := len(x) / d
	p, err := graph.Build(func(b *graph.Builder) {
		t := model.Evaluate(b, m, b.Input("x", n, d))
		if t.LogDensity != nil {
			b.Output("log density", t.LogDensity)
		}
		b.Output("score", t.NeedScore(b))
		if t.Diagonal != nil {
			b.Output("diagonal", t.Diagonal)
		}
	})
	if err != nil {
		return score, diagonal, err
	}
	at := func(j int, h float64) (log, s, diag []float64, err error) {
		in := p.Input("x")
		copy(in, x)
		for i := range n {
			in[i*d+j] += h
		}
		err = p.Run()
		clone := func(name string) []float64 {
			if !p.HasOutput(name) {
				return nil
			}
			return append([]float64(nil), p.Output(name)...)
		}
		return clone("log density"), clone("score"), clone("diagonal"), err
	}
	_, s0, d0, err := at(0, 0)
	if err != nil {
		return score, diagonal, err
	}
	for j := range d {
		lu, su, _, err := at(j, step)
		if err != nil {
			return score, diagonal, err
		}
		ld, sd, _, err := at(j, -step)
		if err != nil {
			return score, diagonal, err
		}
		for i := range n {
			if lu != nil {
				score.see(s0[i*d+j], (lu[i]-ld[i])/(2*step), "row %d, column %d", i, j)
			}
			if d0 != nil {
				diagonal.see(d0[i*d+j], (su[i*d+j]-sd[i*d+j])/(2*step), "row %d, column %d", i, j)
			}
		}
	}
	return score, diagonal, nil
}

// HessianProduct compares H v with central differences of the score along v, at rows x and v (n, d).
func HessianProduct(m model.Model, x, v []float64, step float64) (diff Difference, err error) {
	d := m.Dim()
	n := len(x) / d
	p, err := graph.Build(func(b *graph.Builder) {
		t := model.Evaluate(b, m, b.Input("x", n, d))
		b.Output("score", t.NeedScore(b))
		b.Output("product", t.NeedHessianProduct(b)(b.Input("v", n, d)))
	})
	if err != nil {
		return diff, err
	}
	copy(p.Input("v"), v)
	at := func(h float64) (score, product []float64, err error) {
		for i := range x {
			p.Input("x")[i] = x[i] + h*v[i]
		}
		err = p.Run()
		return append(score, p.Output("score")...), append(product, p.Output("product")...), err
	}
	_, product, err := at(0)
	if err != nil {
		return diff, err
	}
	up, _, err := at(step)
	if err != nil {
		return diff, err
	}
	down, _, err := at(-step)
	for i := range product {
		diff.see(product[i], (up[i]-down[i])/(2*step), "row %d, column %d", i/d, i%d)
	}
	return diff, err
}
