package model

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Quantity is an interpretable parameter, such as the precision, in any parameterisation.
type Quantity struct {
	Name       string
	Rows, Cols int
	Value      []float64 // row-major

	Symmetric bool  // a symmetric matrix over columns: each pair is one parameter
	Range     Range // valid values
}

// Range is the set of valid values of a quantity's numbers.
type Range int

const (
	Real     Range = iota // any
	Positive              // above 0
	Share                 // between 0 and 1
)

// Parametric is a model with quantities to show, compare and restore.
type Parametric interface {
	Model
	Quantities() []Quantity
	// SetQuantities sets the model to the Quantities of another one.
	SetQuantities([]Quantity) error
	// Rescale changes the model of z into the model of x_j = mean_j + deviation_j z_j.
	Rescale(mean, deviation []float64) error
}

func symmetricQuantity(name string, p *mat.SymDense) Quantity {
	d := p.SymmetricDim()
	return Quantity{Name: name, Rows: d, Cols: d, Value: mat.DenseCopyOf(p).RawMatrix().Data, Symmetric: true}
}

func pick(qs []Quantity, name string, rows, cols int) ([]float64, error) {
	for _, q := range qs {
		if q.Name == name {
			if q.Rows != rows || q.Cols != cols || len(q.Value) != rows*cols {
				return nil, fmt.Errorf("%s is (%d, %d) with %d numbers, (%d, %d) is needed", name, q.Rows, q.Cols, len(q.Value), rows, cols)
			}
			return q.Value, nil
		}
	}
	return nil, fmt.Errorf("%s is missing", name)
}

func pickSymmetric(qs []Quantity, name string, d int) (*mat.SymDense, error) {
	v, err := pick(qs, name, d, d)
	if err != nil {
		return nil, err
	}
	p := mat.NewSymDense(d, nil)
	for j := range d {
		for k := j; k < d; k++ {
			if v[j*d+k] != v[k*d+j] {
				return nil, fmt.Errorf("%s is not symmetric at (%d, %d)", name, j+1, k+1)
			}
			p.SetSym(j, k, v[j*d+k])
		}
	}
	return p, nil
}

func (g *Gaussian) Identified() {}

// Quantities are mean (1, d) and precision (d, d).
func (g *Gaussian) Quantities() []Quantity {
	return []Quantity{{Name: "mean", Rows: 1, Cols: g.d, Value: g.Mean()}, symmetricQuantity("precision", g.Precision())}
}

func (g *Gaussian) SetQuantities(qs []Quantity) error {
	mean, err := pick(qs, "mean", 1, g.d)
	if err != nil {
		return err
	}
	p, err := pickSymmetric(qs, "precision", g.d)
	if err != nil {
		return err
	}
	if err := g.SetPrecision(p); err != nil {
		return err
	}
	g.SetMean(mean)
	return nil
}

func (g *Gaussian) Rescale(mean, deviation []float64) error {
	mu, p := g.Mean(), g.Precision()
	for j := range mu {
		mu[j] = mean[j] + deviation[j]*mu[j]
		for k := j; k < g.d; k++ {
			p.SetSym(j, k, p.At(j, k)/deviation[j]/deviation[k])
		}
	}
	if err := g.SetPrecision(p); err != nil {
		return fmt.Errorf("%w; if columns determine each other, leave one of them out, or estimate a penalised network", err)
	}
	g.SetMean(mu)
	return nil
}

func (q *Quartic) Identified() {}

// Quantities are the coefficients θ (d, d), named quartic.
func (q *Quartic) Quantities() []Quantity {
	return []Quantity{symmetricQuantity("quartic", q.Theta())}
}

func (q *Quartic) SetQuantities(qs []Quantity) error {
	theta, err := pickSymmetric(qs, "quartic", q.d)
	if err != nil {
		return err
	}
	return q.SetTheta(theta)
}

// Rescale fails for means other than 0: the model is symmetric about 0.
func (q *Quartic) Rescale(mean, deviation []float64) error {
	theta := q.Theta()
	for j := range q.d {
		if mean[j] != 0 {
			return fmt.Errorf("the quartic model is symmetric about 0: its columns cannot be shifted")
		}
		for k := j; k < q.d; k++ {
			v := theta.At(j, k)
			for _, s := range []float64{deviation[j], deviation[k], deviation[j], deviation[k]} {
				v /= s
			}
			if v == 0 && theta.At(j, k) != 0 || math.IsInf(v, 0) {
				return fmt.Errorf("the coefficient of columns %d and %d overflows float64 in the unit 1/(x² y²): give the columns other units", j+1, k+1)
			}
			theta.SetSym(j, k, v)
		}
	}
	return q.SetTheta(theta)
}
