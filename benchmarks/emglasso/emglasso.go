// Package emglasso is penalised likelihood of tables with missing cells, by EM with the graphical
// lasso in the M-step (Städler and Bühlmann 2012).
package emglasso

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/data/gaussian"
	"missingscore/internal/data/simulate"
	"missingscore/internal/trainers/gaussian/em"
)

type Options struct {
	Lambdas    int     `json:"lambdas"`    // number of λ, evenly spaced on a log scale
	Ratio      float64 `json:"ratio"`      // largest over smallest λ
	Iterations int     `json:"iterations"` // maximal EM iterations at each λ
	Tolerance  float64 `json:"tolerance"`  // EM stops if no entry of P changes by more
}

// Path maximises, for each λ of a decreasing sequence, the penalised observed-data log-likelihood
//
//	Σ_i log N(x_i,Λ; μ_Λ, (P⁻¹)_ΛΛ) / n − λ Σ_{j<k} |P_jk|
//
// over P and μ, from the largest |covariance| down, with warm starts. Columns are not standardised.
func Path(ctx context.Context, t *data.Table, o Options) (path []simulate.Gaussian, err error) {
	mean, p, top := start(t)
	for _, lambda := range floats.LogSpan(make([]float64, o.Lambdas), top, top/o.Ratio) {
		glasso := func(s *mat.SymDense) (*mat.SymDense, error) { return Glasso(s, lambda), nil }
		if p, err = iterate(ctx, t, mean, p, o.Iterations, o.Tolerance, false, glasso); err != nil {
			return nil, err
		}
		path = append(path, simulate.Gaussian{Mean: slices.Clone(mean), Precision: p})
	}
	return path, nil
}

// Precisions returns the precisions of the path of the standardised table.
func Precisions(ctx context.Context, t *data.Table, o Options) (precisions []*mat.SymDense, err error) {
	standard, _ := data.Standardise(t)
	path, err := Path(ctx, standard, o)
	for _, g := range path {
		precisions = append(precisions, g.Precision)
	}
	return precisions, err
}

// Saturated maximises the observed-data log-likelihood without a penalty,
//
//	Σ_i log N(x_i,Λ; μ_Λ, (P⁻¹)_ΛΛ),
//
// by EM from P = I until no entry of P, relative to √(P_jj P_kk), moves by more than tolerance. It
// fails if the expected covariance is singular.
func Saturated(ctx context.Context, t *data.Table, iterations int, tolerance float64) (simulate.Gaussian, error) {
	mean, p, _ := start(t)
	p, err := iterate(ctx, t, mean, p, iterations, tolerance, true, func(s *mat.SymDense) (*mat.SymDense, error) {
		var chol mat.Cholesky
		next := mat.NewSymDense(t.D, nil)
		if !chol.Factorize(s) || chol.InverseTo(next) != nil {
			return nil, fmt.Errorf("likelihood: the expected covariance is singular: %d rows of %d columns are too few", t.N, t.D)
		}
		return next, nil
	})
	return simulate.Gaussian{Mean: mean, Precision: p}, err
}

var errNoMaximum = errors.New("likelihood: no maximum")

// Refit is Saturated with P_jk = 0 if |g.Precision_jk| ≤ threshold; ok is false without a maximum.
func Refit(ctx context.Context, t *data.Table, g simulate.Gaussian, threshold float64, o Options) (refit simulate.Gaussian, ok bool, err error) {
	mean := slices.Clone(g.Mean)
	packed := make([]float64, t.D*(t.D+1)/2)
	for j := range t.D {
		for k := j; k < t.D; k++ {
			if v := g.Precision.At(j, k); j == k || math.Abs(v) > threshold {
				packed[graph.PackedIndex(t.D, j, k)] = v
			}
		}
	}
	support := em.NewSupport(packed, t.D)
	p, err := iterate(ctx, t, mean, g.Precision, o.Iterations, o.Tolerance, false, func(s *mat.SymDense) (*mat.SymDense, error) {
		if !support.Minimise(packed, mat.DenseCopyOf(s).RawMatrix().Data) {
			return nil, errNoMaximum
		}
		return graph.Unpack(t.D, packed), nil
	})
	if err != nil && ctx.Err() == nil {
		return refit, false, nil
	}
	return simulate.Gaussian{Mean: mean, Precision: p}, err == nil, err
}

// iterate makes EM steps from p and mean, which it changes; maximise is the M-step.
func iterate(ctx context.Context, t *data.Table, mean []float64, p *mat.SymDense, iterations int, tolerance float64, relative bool, maximise func(*mat.SymDense) (*mat.SymDense, error)) (*mat.SymDense, error) {
	for range iterations {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, err := expect(t, mean, p)
		if err != nil {
			return nil, err
		}
		next, err := maximise(s)
		if err != nil {
			return nil, err
		}
		moved := 0.0
		for j := range t.D {
			for k := j; k < t.D; k++ {
				by := math.Abs(next.At(j, k) - p.At(j, k))
				if relative {
					by /= math.Sqrt(next.At(j, j) * next.At(k, k))
				}
				moved = math.Max(moved, by)
			}
		}
		if p = next; moved <= tolerance {
			break
		}
	}
	return p, nil
}

func start(t *data.Table) (mean []float64, p *mat.SymDense, top float64) {
	p = mat.NewSymDense(t.D, nil)
	for j := range t.D {
		p.SetSym(j, j, 1)
	}
	mean = make([]float64, t.D)
	count := make([]float64, t.D)
	for i, seen := range t.Observed {
		if seen {
			mean[i%t.D] += t.Values[i]
			count[i%t.D]++
		}
	}
	floats.Div(mean, count)
	for j := range t.D {
		for k := range j {
			sum, n := 0.0, 0.0
			for i := 0; i < len(t.Values); i += t.D {
				if t.Observed[i+j] && t.Observed[i+k] {
					sum += (t.Values[i+j] - mean[j]) * (t.Values[i+k] - mean[k])
					n++
				}
			}
			if n > 0 {
				top = math.Max(top, math.Abs(sum/n))
			}
		}
	}
	return mean, p, top
}

// The E-step sets mean and returns the expected covariance.
func expect(t *data.Table, mean []float64, p *mat.SymDense) (*mat.SymDense, error) {
	d := t.D
	b := data.NewBatch(t.N, d)
	b.Fill(t, t.AllRows(), 1)
	e := gaussian.NewExpectation(d, gaussian.Gonum)
	var eta mat.VecDense
	eta.MulVec(p, mat.NewVecDense(d, mean))
	if err := e.Over(eta.RawVector().Data, mat.DenseCopyOf(p).RawMatrix().Data, b.X, b.Mask, b.Weight, gaussian.FindPatterns(b.Mask, b.Weight), nil); err != nil {
		return nil, fmt.Errorf("likelihood: %w", err)
	}
	s, n := mat.NewSymDense(d, nil), e.Number
	for j := range d {
		for k := range j + 1 {
			s.SetSym(k, j, e.Second[j*d+k]/n-e.Sum[j]/n*e.Sum[k]/n)
		}
	}
	floats.AddScaled(mean, 1/n, e.Sum)
	return s, nil
}

const (
	glassoTolerance = 1e-6 // change of W, relative to the mean |S_jk|
	glassoSweeps    = 200
)

// Glasso is the graphical lasso with an unpenalised diagonal,
//
//	argmax log det P − tr(SP) − 2λ Σ_{j<k} |P_jk|,
//
// by block coordinate descent on W = P⁻¹ (Friedman, Hastie and Tibshirani 2008). S must be positive
// definite.
func Glasso(s *mat.SymDense, lambda float64) *mat.SymDense {
	d := s.SymmetricDim()
	w := mat.DenseCopyOf(s)
	beta := mat.NewDense(d, d, nil) // row j: coefficients of column j
	scale := 0.0
	for j := range d {
		for k := range j {
			scale += math.Abs(s.At(j, k))
		}
	}
	column, slack := make([]float64, d), make([]float64, d)
	for range glassoSweeps {
		moved := 0.0
		for j := range d {
			for k := range d {
				column[k] = s.At(j, k)
			}
			lasso(w, column, slack, j, lambda, beta.RawRowView(j))
			for k := range d {
				if k != j {
					v := column[k] - slack[k]
					moved += math.Abs(v - w.At(j, k))
					w.Set(j, k, v)
					w.Set(k, j, v)
				}
			}
		}
		if moved <= glassoTolerance*scale {
			break
		}
	}
	p := mat.NewSymDense(d, nil)
	for j := range d {
		p.SetSym(j, j, 1/(w.At(j, j)-floats.Dot(w.RawRowView(j), beta.RawRowView(j))))
	}
	for j := range d {
		for k := range j { // both values agree at the solution
			p.SetSym(j, k, -(beta.At(j, k)*p.At(j, j)+beta.At(k, j)*p.At(k, k))/2)
		}
	}
	return p
}

// lasso minimises ½ bᵀW b − s_jᵀ b + λ|b|₁ over the columns other than j; slack is s_j − W b.
func lasso(w *mat.Dense, s, slack []float64, j int, lambda float64, b []float64) {
	copy(slack, s)
	for k, x := range b {
		if x != 0 {
			floats.AddScaled(slack, -x, w.RawRowView(k))
		}
	}
	for range glassoSweeps {
		moved := 0.0
		for k, x := range b {
			if k == j {
				continue
			}
			row := w.RawRowView(k)
			gradient := slack[k] + row[k]*x
			next := 0.0
			if size := math.Abs(gradient) - lambda; size > 0 {
				next = math.Copysign(size, gradient) / row[k]
			}
			if next != x {
				floats.AddScaled(slack, x-next, row)
				moved = max(moved, math.Abs(next-x)*row[k])
				b[k] = next
			}
		}
		if moved <= glassoTolerance*lambda {
			return
		}
	}
}
