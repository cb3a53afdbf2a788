package fitted

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/setting"
)

// Scores of a table's rows, in its units, NaN where undefined.
type Scores struct {
	Sampler string // sampler of the missing cells
	// log q(x) (n) up to a constant, for complete rows; with Model.Posterior normalised, of the
	// observed cells of every row, and the fields below are unset.
	LogDensity []float64
	// ∂/∂x_j log q (n, d) of the observed cells: s(x), or the marginal score E[s_j(x) | x_obs]
	// (docs/theory/marginal.md#eq-marginal-score); on a half-space tangential to the boundary.
	Score []float64
	// Monte Carlo standard error (n, d) of a marginal score, without the error of an approximate
	// imputer.
	Error  []float64
	Size   []float64 // (n): effective sample size, 0 for rows without missing cells
	Mixing *Mixing   // of chains, else nil
}

// Score draws missing cells as Impute does; c.Draws defaults to 100 and must be at least 2.
func Score(ctx context.Context, f *Model, t *data.Table, c ImputeConfig) (*Scores, error) {
	if f.ordinal() {
		return nil, errLatentScore
	}
	setting.Default(&c.Draws, 100)
	c.Draws = max(c.Draws, 2)
	by, err := c.resolve(f)
	if err != nil {
		return nil, err
	}
	if f.Posterior != nil {
		return scoreKept(ctx, f, t, c)
	}
	nan := func(n int) []float64 { return slices.Repeat([]float64{math.NaN()}, n) }
	r := &Scores{Sampler: c.Sampler, LogDensity: nan(t.N), Score: nan(t.N * t.D), Error: nan(t.N * t.D), Size: make([]float64, t.N)}
	x, err := f.transformed(t)
	if err != nil {
		return nil, err
	}
	if m := f.mixed(); m != nil {
		r.Sampler = ClosedForm
		scoreMixed(m, r, x)
	} else {
		r.Mixing, err = eachBlock(ctx, f, t, by, c, func(b *block) error { return f.marginal(r, b, c.Draws) })
		if err == nil {
			err = f.scoreComplete(ctx, r, x)
		}
	}
	inTableUnits(f, r, t)
	return r, err
}

// inTableUnits converts scores of transformed columns to the units of t by the change of variables
// (docs/theory/transforms.md#change-of-variables): with y = T(x)
//
//	log q(x) = log q_y(T(x)) + Σ_j log T_j'(x_j),   s_j(x) = s_y,j T_j'(x_j) + T_j''(x_j)/T_j'(x_j)
//
// Values that are not finite become NaN.
func inTableUnits(f *Model, r *Scores, t *data.Table) {
	if f.Transform == nil {
		return
	}
	for k, seen := range t.Observed {
		if !seen {
			continue
		}
		i, j := k/t.D, k%t.D
		log, curvature := f.Transform.Slope(j, t.Values[k])
		slope := math.Exp(log)
		r.LogDensity[i] = finiteOrNaN(r.LogDensity[i] + log)
		r.Score[k] = finiteOrNaN(r.Score[k]*slope + curvature)
		r.Error[k] = finiteOrNaN(r.Error[k] * slope)
	}
}

func finiteOrNaN(v float64) float64 {
	if math.IsInf(v, 0) {
		return math.NaN()
	}
	return v
}

func (f *Model) scoreComplete(ctx context.Context, r *Scores, t *data.Table) error {
	var rows []int
	for i := range t.N {
		if !slices.Contains(t.Observed[i*t.D:(i+1)*t.D], false) {
			rows = append(rows, i)
		}
	}
	const size = 500
	z := f.Scale.Standardised(t)
	unit := 0. // log density of z minus log density of x
	for _, v := range f.Scale.Deviation {
		unit += math.Log(v)
	}
	for part := range slices.Chunk(rows, size) {
		if err := ctx.Err(); err != nil {
			return err
		}
		var x []float64
		for _, i := range part {
			x = append(x, z.Values[i*t.D:(i+1)*t.D]...)
		}
		log, score, err := f.at(x, slices.Repeat([]float64{1}, len(x)))
		if err != nil {
			return err
		}
		for k, i := range part {
			if log != nil {
				r.LogDensity[i] = log[k] - unit
			}
			for j := range t.D {
				r.Score[i*t.D+j] = score[k*t.D+j] / f.Scale.Deviation[j]
			}
		}
	}
	return nil
}

func (f *Model) at(z, mask []float64) (log, score []float64, err error) {
	e, err := model.NewEvaluator(f.joint(), len(z)/len(f.Names), true)
	if err != nil {
		return nil, nil, err
	}
	e.SetMask(mask)
	return e.At(z)
}

func (f *Model) marginal(r *Scores, b *block, draws int) error {
	d := len(f.Names)
	_, score, err := f.at(b.x, b.mask)
	if err != nil {
		return err
	}
	support := f.gaps()
	var tangent domain.Tangent
	g, slope, values := make([]float64, d), make([]float64, d), make([]float64, draws)
	for i, row := range b.rows {
		mask := b.mask[i*draws*d : (i*draws+1)*d]
		r.Size[row] = float64(draws)
		if b.size != nil {
			r.Size[row] = min(r.Size[row], b.size[i])
		}
		if support.Bounded() {
			domain.Weight{}.At(support, b.x[i*draws*d:(i*draws+1)*d], mask, g, slope, &tangent)
		}
		for j, m := range mask {
			if m == 0 || support.Bounded() && tangent.Lost[j] {
				continue
			}
			tangential(values, score[i*draws*d:(i+1)*draws*d], j, support, tangent.V)
			mean, sd := stat.MeanStdDev(values, nil)
			r.Score[row*d+j] = mean / f.Scale.Deviation[j]
			r.Error[row*d+j] = sd / math.Sqrt(r.Size[row]) / f.Scale.Deviation[j]
		}
	}
	return nil
}

// tangential sets t_jᵀs for each score s of draws (draws, d), t_j = e_j − Σ_h a_hj v_h.
func tangential(values, score []float64, j int, support *domain.Domain, tangents [][]float64) {
	d := len(score) / len(values)
	for k := range values {
		s := score[k*d : (k+1)*d]
		values[k] = s[j]
		for h, v := range tangents {
			for l := range v {
				values[k] -= support.Half[h].A[j] * v[l] * s[l]
			}
		}
	}
}
