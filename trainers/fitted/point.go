package fitted

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
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
	if closed && c.Sampler == "exact" && !f.Domain.Bounded() && f.Missingness == nil && f.Transform == nil {
		return expectations(f, t, normal)
	}
	if f.mixed() != nil && f.Transform == nil {
		return expectMixed(f, t)
	}
	r := &Points{Sampler: c.Sampler, Draws: c.Draws, Values: slices.Clone(t.Values), Error: make([]float64, len(t.Values))}
	categories := f.Transform.Ordinal()
	for j, names := range f.Drawn() {
		if names != nil {
			categories = append(categories, j)
		}
	}
	r.Mixing, err = eachBlock(ctx, f, t, by, c, func(b *block) error {
		f.restore(b.x)
		draws := make([]float64, c.Draws)
		for i, row := range b.rows {
			n := float64(c.Draws)
			if b.size != nil {
				n = min(n, b.size[i])
			}
			for j := range t.D {
				if b.mask[i*t.D+j] != 0 {
					continue
				}
				mat.Col(draws, j, mat.NewDense(c.Draws, t.D, b.x[i*c.Draws*t.D:(i+1)*c.Draws*t.D]))
				if slices.Contains(categories, j) {
					r.Values[row*t.D+j] = mostFrequent(draws)
					continue
				}
				mean, sd := stat.MeanStdDev(draws, nil)
				r.Values[row*t.D+j], r.Error[row*t.D+j] = mean, sd/math.Sqrt(n)
			}
			f.toLevels(r.Values[row*t.D : (row+1)*t.D])
		}
		return nil
	})
	return r, err
}

func expectations(f *Model, t *data.Table, m model.Normal) (*Points, error) {
	if _, err := f.transformed(t); err != nil {
		return nil, err
	}
	r := &Points{Sampler: ClosedForm, Values: slices.Clone(t.Values), Error: make([]float64, len(t.Values))}
	z := f.standardised(t)
	given := source.Conditional{Mean: m.Mean(), Precision: m.Precision()}
	for i := range t.N {
		row, mask := z.Values[i*t.D:(i+1)*t.D], marks(t, i)
		if err := given.Condition(mask); err != nil {
			return nil, fmt.Errorf("row %d of the table: %w", i+1, err)
		}
		given.Expect(row)
		f.restore(row)
		f.toLevels(row)
		for j, o := range mask {
			if o == 0 {
				r.Values[i*t.D+j] = row[j]
			}
		}
	}
	return r, nil
}
