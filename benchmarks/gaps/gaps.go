// Package gaps hides cells of tables completely at random (MCAR), at random (MAR) or not at random
// (MNAR).
package gaps

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/internal/stream"
)

// Law is a missingness mechanism. With slope 0 each cell is hidden with probability Missing (MCAR).
// Otherwise a third of the columns, with the fewest gaps, stay as guides, and a cell of another
// column j is hidden with probability
//
//	P(x_ij hidden | row i) = σ(a_j + Slope z_ig),
//
// where z_g is the standardised guide that correlates most with j, and a_j makes the mean over rows
// Missing (MAR). If the guide's cell is missing, the probability is Missing.
//
// By replaces this by a logistic law of Muzellec et al. 2020 ("Missing data imputation using
// optimal transport"), with standardised columns z, in which missing cells are 0, and random
// weights w ~ N(0, I) scaled so that wᵀz has standard deviation 1:
//
//	"guides"  σ(a_j + w_jᵀ z_iG) for guides G, a random 30 % of the columns (at least one) that stay;
//	          the mean over the other columns makes the share of the whole table Missing (MAR)
//	"cell"    σ(a_j ± z_ij), a random sign for each column (MNAR)
type Law struct {
	Name    string  `json:"name"`
	Missing float64 `json:"missing"` // expected share of hidden cells; without By in the columns that are not guides
	Slope   float64 `json:"slope"`   // per standard deviation of the guide; 0: MCAR
	By      string  `json:"by"`      // empty, "guides" or "cell"
}

const tries = 100

// Hide returns a copy of t with more cells hidden, determined by the seed. A mask that leaves a
// column with fewer than two different values is redrawn, up to 100 times.
func (l Law) Hide(t *data.Table, seed uint64) (hidden *data.Table, err error) {
	p := l.probabilities(t)
	if l.By != "" {
		p = l.logistic(t, stream.New(seed, stream.Hide, tries))
	}
	for again := range uint64(tries) {
		hidden, err = hide(t, p, stream.New(seed, stream.Hide, again))
		var fault *data.ColumnError
		if !errors.As(err, &fault) {
			return hidden, err
		}
	}
	return nil, err
}

func hide(t *data.Table, p []float64, rng *rand.Rand) (*data.Table, error) {
	values, observed := make([]float64, len(t.Values)), make([]bool, len(t.Values))
	for k, seen := range t.Observed {
		if stays := rng.Float64() >= p[k]; seen && stays {
			values[k], observed[k] = t.Values[k], true
		}
	}
	return data.NewTable(slices.Clone(t.Names), values, observed)
}

// probabilities returns P(hidden) of each cell, (n, d) row-major.
func (l Law) probabilities(t *data.Table) []float64 {
	p := make([]float64, len(t.Values))
	if l.Slope == 0 {
		for k := range p {
			p[k] = l.Missing
		}
		return p
	}
	guides := stay(t)
	for j := range t.D {
		if slices.Contains(guides, j) {
			continue
		}
		g := slices.MaxFunc(guides, func(a, b int) int { return cmp.Compare(correlation(t, j, a), correlation(t, j, b)) })
		l.guide(t, j, g, p)
	}
	return p
}

// logistic returns P(hidden) by the law By, (n, d) row-major.
func (l Law) logistic(t *data.Table, rng *rand.Rand) []float64 {
	z, p := make([]float64, len(t.Values)), make([]float64, len(t.Values))
	standard, _ := data.Standardise(t)
	for k, seen := range t.Observed {
		if seen {
			z[k] = standard.Values[k]
		}
	}
	guides, share := rng.Perm(t.D)[:max(1, t.D*3/10)], l.Missing
	if l.By == "guides" {
		share *= float64(t.D) / float64(t.D-len(guides))
	}
	for j := range t.D {
		from := guides
		if l.By == "cell" {
			from = []int{j}
		} else if slices.Contains(guides, j) {
			continue
		}
		sum := make([]float64, t.N)
		for _, g := range from {
			w := rng.NormFloat64()
			for i := range sum {
				sum[i] += w * z[i*t.D+g]
			}
		}
		floats.Scale(1/stat.StdDev(sum, nil), sum)
		a := intercept(sum, share)
		for i, v := range sum {
			p[i*t.D+j] = logistic(a + v)
		}
	}
	return p
}

func (l Law) guide(t *data.Table, j, g int, p []float64) {
	var z []float64
	var rows []int
	for i := range t.N {
		if p[i*t.D+j] = l.Missing; t.Observed[i*t.D+g] {
			z, rows = append(z, t.Values[i*t.D+g]), append(rows, i)
		}
	}
	mean, sd := stat.PopMeanStdDev(z, nil)
	for i := range z {
		z[i] = l.Slope * (z[i] - mean) / sd
	}
	a := intercept(z, l.Missing)
	for k, i := range rows {
		p[i*t.D+j] = logistic(a + z[k])
	}
}

// intercept solves mean σ(a + z) = share, by bisection.
func intercept(z []float64, share float64) float64 {
	low, high := -1e3, 1e3
	for range 100 {
		a, sum := (low+high)/2, 0.0
		for _, v := range z {
			sum += logistic(a + v)
		}
		if sum > share*float64(len(z)) {
			high = a
		} else {
			low = a
		}
	}
	return (low + high) / 2
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// stay returns a third of the columns, rounded up, with the fewest gaps.
func stay(t *data.Table) []int {
	missing, columns := make([]int, t.D), make([]int, t.D)
	for k, seen := range t.Observed {
		columns[k%t.D] = k % t.D
		if !seen {
			missing[k%t.D]++
		}
	}
	slices.SortStableFunc(columns, func(a, b int) int {
		return cmp.Or(cmp.Compare(missing[a], missing[b]), cmp.Compare(a%3, b%3))
	})
	return columns[:(t.D+2)/3]
}

// correlation returns |r| over common rows; 0 if undefined.
func correlation(t *data.Table, j, k int) float64 {
	var x, y []float64
	for i := range t.N {
		if t.Observed[i*t.D+j] && t.Observed[i*t.D+k] {
			x, y = append(x, t.Values[i*t.D+j]), append(y, t.Values[i*t.D+k])
		}
	}
	if r := math.Abs(stat.Correlation(x, y, nil)); len(x) > 1 && !math.IsNaN(r) {
		return r
	}
	return 0
}
