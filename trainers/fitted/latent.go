package fitted

import (
	"context"
	"errors"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/data/truncnorm"
	"missingscore/graph/model"
	"missingscore/trainers/source"
)

// Of the latent numbers of a row: Gibbs sweeps before the first draw, and from draw to draw.
const (
	latentWarmUp  = 200
	latentSpacing = 20
)

var (
	errLatent      = errors.New("the model has ordered categories, of which intervals of latent numbers are known: draw by latent, or leave the sampler out (auto)")
	errNotLatent   = errors.New("latent is for models of ordered categories (Spec.Transform=ordinal), this is another: leave the sampler out (auto)")
	errLatentMatch = errors.New("the model draws categories that were seen: its draws of ordered categories need no predictive-mean matching, leave it out (MatchConfig.Donors)")
	errLatentScore = errors.New("the model has ordered categories: a row of intervals has no score; fit another model without Spec.Transform=ordinal, whose scores are of the codes taken for numbers")
)

// ordinal says whether the model has columns of ordered categories.
func (f *Model) ordinal() bool { return f.Transform.Ordinal() != nil }

// byLatent draws the latent numbers of rows, each given the others of its row, observed ones
// within the thresholds of their category (docs/theory/ordinal.md#eq-latent-draws): one chain a
// row, whose draws are latentSpacing sweeps apart.
func byLatent(f *Model, z *data.Table, draws int) (completer, error) {
	m, ok := model.AsNormal(f.Model)
	if !ok {
		return nil, errLatent
	}
	g := &latentRows{table: z, draws: draws, mean: m.Mean()}
	p := m.Precision()
	for j := range z.D {
		own := p.At(j, j)
		g.deviation = append(g.deviation, 1/math.Sqrt(own))
		for k := range z.D {
			v := 0.0
			if k != j {
				v = -p.At(j, k) / own
			}
			g.coefficients = append(g.coefficients, v)
		}
	}
	return func(ctx context.Context, rows []int, rng *source.Stream) (block, error) {
		b := block{rows: rows}
		for _, row := range rows {
			if ctx.Err() != nil {
				return b, ctx.Err()
			}
			b.mask = append(b.mask, marks(z, row)...)
			b.x = g.draw(b.x, row, rng)
		}
		return b, nil
	}, nil
}

// latentRows draws latent numbers of a table's rows.
type latentRows struct {
	table *data.Table
	draws int

	mean, deviation []float64 // conditional deviations 1/√P_jj
	coefficients    []float64 // (d, d) −P_jk/P_jj
}

// draw appends the draws of a row.
func (g *latentRows) draw(to []float64, row int, rng *source.Stream) []float64 {
	t, d := g.table, g.table.D
	z := slices.Clone(t.Values[row*d : (row+1)*d])
	for j := range d {
		if !t.Observed[row*d+j] {
			z[j] = g.mean[j]
		}
	}
	floats.Sub(z, g.mean)
	for sweep := range latentWarmUp + 1 + latentSpacing*(g.draws-1) {
		for j := range d {
			seen := t.Observed[row*d+j]
			if seen && !t.Ordinal(j) {
				continue
			}
			mean, sd := floats.Dot(g.coefficients[j*d:(j+1)*d], z), g.deviation[j]
			low, high := math.Inf(-1), math.Inf(1)
			if seen {
				low, high = between(t.Cuts[j], t.Values[row*d+j])
			}
			low, high = (low-g.mean[j]-mean)/sd, (high-g.mean[j]-mean)/sd
			z[j] = mean + sd*truncnorm.Transport(rng.NormFloat64(), low, high)
		}
		if sweep >= latentWarmUp && (sweep-latentWarmUp)%latentSpacing == 0 {
			to = append(to, z...)
			floats.Add(to[len(to)-d:], g.mean)
		}
	}
	return to
}

// between are the thresholds that z lies between.
func between(cuts []float64, z float64) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	k := sort.SearchFloat64s(cuts, z)
	if k > 0 {
		low = cuts[k-1]
	}
	if k < len(cuts) {
		high = cuts[k]
	}
	return low, high
}

// mostFrequent is the value that stands most often in draws, the least of them where there are
// several.
func mostFrequent(draws []float64) (most float64) {
	sorted, best := slices.Sorted(slices.Values(draws)), 0
	for from := 0; from < len(sorted); {
		to := from + sort.Search(len(sorted)-from, func(k int) bool { return sorted[from+k] > sorted[from] })
		if to-from > best {
			most, best = sorted[from], to-from
		}
		from = to
	}
	return most
}
