package fitted

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"missingscore/data/domain"
	"missingscore/data/truncnorm"
	"missingscore/graph/model"
)

// predictor gives E[z_j | z_−j] for complete rows z (n, d), inside the domain.
type predictor interface {
	expect(z []float64, j int) ([]float64, error)
}

// predictor is one worker's for n rows.
func (f *Model) predictor(n int) (predictor, error) {
	if m, ok := model.AsNormal(f.Model); ok {
		return &normalPredictor{m.Mean(), m.Precision(), f.support()}, nil
	}
	scoreOnly, err := f.scoreOnly()
	if err != nil {
		return nil, err
	}
	if scoreOnly {
		return nil, errors.New("the model gives a score but no log density, which the predictions of predictive-mean matching need: leave the matching out, or fit another model")
	}
	rows := min(n, predictedRows)
	e, err := model.NewEvaluator(f.density(), rows*predictedPoints, false)
	return &gridPredictor{e, f.support(), rows, len(f.Names)}, err
}

// normalPredictor is a normal model's: μ_j − Σ_{k≠j} P_jk (z_k − μ_k)/P_jj, variance 1/P_jj,
// restricted to the interval that the domain leaves.
type normalPredictor struct {
	mean      []float64
	precision *mat.SymDense
	support   *domain.Domain
}

func (p *normalPredictor) expect(z []float64, j int) ([]float64, error) {
	d := len(p.mean)
	own := p.precision.At(j, j)
	if !(own > 0) {
		return nil, errors.New("the precision of a column is not positive, so that it has no expectation given the others: fit again, by another method")
	}
	interval := newInterval(p.support, j, d)
	sd := 1 / math.Sqrt(own)
	var expected []float64
	for row := range slices.Chunk(z, d) {
		m := p.mean[j]
		for k, v := range row {
			if k != j {
				m -= p.precision.At(j, k) / own * (v - p.mean[k])
			}
		}
		if low, high := interval.of(row); !math.IsInf(low, -1) || !math.IsInf(high, 1) {
			alpha, beta := (low-m)/sd, (high-m)/sd
			m += sd * (densityAt(alpha, alpha, beta) - densityAt(beta, alpha, beta))
		}
		expected = append(expected, m)
	}
	return expected, nil
}

// densityAt is the density of the normal restricted to (alpha, beta), 0 at infinity.
func densityAt(x, alpha, beta float64) float64 {
	if math.IsInf(x, 0) {
		return 0
	}
	return math.Exp(truncnorm.LogDensity(x, alpha, beta))
}

// interval is where a coordinate may be while the others stay.
type interval struct {
	support *domain.Domain
	section domain.Section
	mask    []float64
	j       int
}

func newInterval(s *domain.Domain, j, d int) *interval {
	v := &interval{support: s, mask: slices.Repeat([]float64{1}, d), j: j}
	v.mask[j] = 0
	return v
}

func (v *interval) of(row []float64) (low, high float64) {
	if !v.support.Bounded() {
		return math.Inf(-1), math.Inf(1)
	}
	v.support.Section(&v.section, row, v.mask)
	return v.section.Interval(row, v.j)
}

const (
	predictedRows   = 50 // in one evaluation
	predictedPoints = 64
)

// gridPredictor integrates a model's density by Gauss–Legendre quadrature, over the range of
// the column and half of it on either side, as far as the domain goes.
type gridPredictor struct {
	density *model.Evaluator
	support *domain.Domain
	rows, d int
}

func (p *gridPredictor) expect(z []float64, j int) ([]float64, error) {
	var column []float64
	for i := j; i < len(z); i += p.d {
		column = append(column, z[i])
	}
	least, most := floats.Min(column), floats.Max(column)
	room := max(1, (most-least)/2)
	interval := newInterval(p.support, j, p.d)
	points := make([]float64, p.rows*predictedPoints*p.d)
	at, weight := make([]float64, predictedPoints), make([]float64, predictedPoints)
	quad.Legendre{}.FixedLocations(at, weight, -1, 1)
	var expected []float64
	for part := range slices.Chunk(z, p.rows*p.d) {
		for i := 0; i < len(part); i += p.d {
			row := part[i : i+p.d]
			low, high := interval.of(row)
			low, high = max(low, least-room), min(high, most+room)
			for g := range predictedPoints {
				to := points[(i*predictedPoints + g*p.d):][:p.d]
				copy(to, row)
				to[j] = (low + high + (high-low)*at[g]) / 2
			}
		}
		log, _, err := p.density.At(points)
		if err != nil {
			return nil, err
		}
		for i := range len(part) / p.d {
			own := log[i*predictedPoints : (i+1)*predictedPoints]
			peak := floats.Max(own)
			total, sum := 0.0, 0.0
			for g, v := range own {
				w := weight[g] * math.Exp(v-peak)
				total += w
				sum += w * points[(i*predictedPoints+g)*p.d+j]
			}
			expected = append(expected, sum/total)
		}
	}
	return expected, nil
}
