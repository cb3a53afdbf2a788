package latent

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
)

// law is a normal distribution with thresholds of ordinal columns.
type law struct {
	all  []float64   // memory of mean, cov and cuts
	mean []float64   // (d), 0 for ordinal columns
	cov  []float64   // (d, d), diagonal 1 for ordinal columns
	cuts [][]float64 // (d), nil for other columns

	blocks []data.Block // of the nominal columns' utilities
	block  []int        // (d): index in blocks; -1: none
}

var errSingular = errors.New("the covariance of the latent variables is not positive definite: leave out repeated columns (ReadOptions.Exclude), or take Spec.Steps.Method pairwise")

// priorRows is the number of uncorrelated prior rows per column. Without them correlations of few
// skewed categories run to ±1 (docs/theory/ordinal.md#eq-latent-em).
const priorRows = 1

// nominalRows is priorRows with nominal columns (docs/theory/ordinal.md#eq-nominal-prior).
const nominalRows = 0.25

// set computes the law from the sums of completed rows: the number of rows, Σz, Σzzᵀ, and the
// shares of cells below each threshold (expected for missing ones),
//
//	τ_c = Φ⁻¹( (1/n) Σ_i P(z_i ≤ τ_c | row i) ),   Σ = mean of (z − z̄)(z − z̄)ᵀ
//
// with ordinal columns scaled to variance 1, and off-diagonal elements times n/(n + ν), ν the prior
// rows.
func (l *law) set(s *sums) {
	d := len(l.mean)
	floats.ScaleTo(l.mean, 1/s.number, s.mean)
	unit := make([]float64, d)
	for j := range d {
		unit[j] = 1
		if l.cuts[j] != nil {
			unit[j] = 1 / math.Sqrt(s.cov[j*d+j]/s.number-l.mean[j]*l.mean[j])
		}
	}
	for j := range d {
		for k := j; k < d; k++ {
			v := (s.cov[j*d+k]/s.number - l.mean[j]*l.mean[k]) * unit[j] * unit[k]
			if j != k && (l.block[j] < 0 || l.block[j] != l.block[k]) {
				v *= s.number / (s.number + l.prior())
			}
			l.cov[j*d+k], l.cov[k*d+j] = v, v
		}
	}
	for j, cuts := range l.cuts {
		if cuts == nil {
			continue
		}
		l.mean[j], l.cov[j*d+j] = 0, 1
		for k := range cuts {
			cuts[k] = distuv.UnitNormal.Quantile(min(1, s.cuts[j][k]/s.number))
		}
	}
	l.exchange(s.number)
}

// regressions returns, per column, the coefficients of the others in its conditional mean, b_jk =
// −P_jk/P_jj and b_jj = 0, (d, d), and its conditional standard deviation 1/√P_jj.
func (l *law) regressions() (coefficients, deviation []float64, err error) {
	d := len(l.mean)
	var c mat.Cholesky
	var p mat.SymDense
	if !c.Factorize(mat.NewSymDense(d, l.cov)) || c.InverseTo(&p) != nil {
		return nil, nil, errSingular
	}
	coefficients, deviation = make([]float64, d*d), make([]float64, d)
	for j := range d {
		own := p.At(j, j)
		deviation[j] = 1 / math.Sqrt(own)
		for k := range d {
			if k != j {
				coefficients[j*d+k] = -p.At(j, k) / own
			}
		}
	}
	return coefficients, deviation, nil
}

// newLaw returns a law of zeros with as many thresholds as cuts.
func newLaw(cuts [][]float64, blocks []data.Block) *law {
	d := len(cuts)
	all := make([]float64, d+d*d+len(slices.Concat(cuts...)))
	l := &law{all: all, mean: all[:d:d], cov: all[d : d+d*d : d+d*d], cuts: make([][]float64, d), blocks: blocks, block: places(blocks, d)}
	rest := all[d+d*d:]
	for j, c := range cuts {
		if c != nil {
			l.cuts[j], rest = rest[:len(c)], rest[len(c):]
		}
	}
	return l
}

func (l *law) clone() *law {
	c := newLaw(l.cuts, l.blocks)
	copy(c.all, l.all)
	return c
}

// apart returns the largest difference of a correlation between two laws.
func (l *law) apart(other *law) (most float64) {
	d := len(l.mean)
	for j := range d {
		for k := range j {
			unit := math.Sqrt(l.cov[j*d+j] * l.cov[k*d+k])
			most = max(most, math.Abs(l.cov[j*d+k]-other.cov[j*d+k])/unit)
		}
	}
	return most
}

func (l *law) prior() float64 {
	columns := float64(len(l.mean))
	if len(l.blocks) == 0 {
		return priorRows * columns
	}
	for _, b := range l.blocks {
		columns -= float64(b.Width - 1)
	}
	return nominalRows * columns
}
