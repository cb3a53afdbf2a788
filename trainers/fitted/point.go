package fitted

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/trainers/source"
)

// Points is a table whose missing cells hold conditional expectations.
type Points struct {
	Sampler string    // of the draws they are means of, "closed form" where there are none
	Draws   int       // per row, 0 for the closed form
	Values  []float64 // (n, d), observed cells as they are
	// Monte Carlo standard error (n, d) of each missing cell; 0 elsewhere and for the closed form.
	Error  []float64
	Mixing *Mixing // of mcmc, else nil
}

// PointDraws is the default number of draws of Point.
const PointDraws = 400

// ClosedForm is the Sampler of Points and Scores without draws.
const ClosedForm = "closed form"

// Point returns E[x_mis | x_obs] in the table's units
// (docs/theory/gaussian.md#eq-gaussian-conditional): in closed form for a normal model on R^d with
// c.Sampler exact or unset, else the mean of c.Draws draws (default PointDraws), for categories the
// mode. It fails as Impute does.
func Point(ctx context.Context, f *Model, t *data.Table, c ImputeConfig) (*Points, error) {
	setting.Default(&c.Draws, PointDraws)
	by, err := c.resolve(f)
	if err != nil {
		return nil, err
	}
	normal, closed := model.AsNormal(f.Model)
	switch plain := f.Transform == nil; {
	case plain && closed && c.Sampler == "exact" && !f.Domain.Bounded() && f.Missingness == nil:
		given := source.Conditional{Mean: normal.Mean(), Precision: normal.Precision()}
		return expect(f, t, func(i int, row []float64) error {
			err := given.Condition(marks(t, i))
			if err == nil {
				given.Expect(row)
			}
			return err
		})
	case plain && f.mixed() != nil:
		given := f.mixed().ByPattern()
		return expect(f, t, func(i int, row []float64) error {
			given(t.Observed[i*t.D : (i+1)*t.D]).Expect(row)
			return nil
		})
	}
	r := &Points{Sampler: c.Sampler, Draws: c.Draws, Values: slices.Clone(t.Values), Error: make([]float64, len(t.Values))}
	levels, ordinal := f.Drawn(), f.Transform.Ordinal()
	r.Mixing, err = eachBlock(ctx, f, t, by, c, func(b *block) error {
		f.restore(b.x)
		for i, row := range b.rows {
			n := float64(c.Draws)
			if b.size != nil {
				n = min(n, b.size[i])
			}
			for j := range t.D {
				if b.mask[i*c.Draws*t.D+j] != 0 {
					continue
				}
				draws := columnOf(b.x[i*c.Draws*t.D:(i+1)*c.Draws*t.D], j, t.D)
				r.average(row*t.D+j, draws, n, levels[j] != nil || slices.Contains(ordinal, j))
			}
			f.toLevels(r.Values[row*t.D : (row+1)*t.D])
		}
		return nil
	})
	return r, err
}

// average sets a cell to the mean of draws of effective size n, or to the mode of categories.
func (r *Points) average(at int, draws []float64, n float64, category bool) {
	if category {
		r.Values[at] = mostFrequent(draws)
		return
	}
	mean, sd := stat.MeanStdDev(draws, nil)
	r.Values[at], r.Error[at] = mean, sd/math.Sqrt(n)
}

// expect returns closed-form expectations; fill sets the missing cells of row i in the units of z.
func expect(f *Model, t *data.Table, fill func(i int, row []float64) error) (*Points, error) {
	if _, err := f.transformed(t); err != nil {
		return nil, err
	}
	r := &Points{Sampler: ClosedForm, Values: slices.Clone(t.Values), Error: make([]float64, len(t.Values))}
	z := f.Scale.Standardised(t)
	for i := range t.N {
		row := z.Values[i*t.D : (i+1)*t.D]
		if err := fill(i, row); err != nil {
			return nil, fmt.Errorf("row %d of the table: %w", i+1, err)
		}
		f.restore(row)
		f.toLevels(row)
		for j, v := range row {
			if !t.Observed[i*t.D+j] {
				r.Values[i*t.D+j] = v
			}
		}
	}
	return r, nil
}
