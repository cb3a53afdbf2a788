package fitted

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/transform"
	"missingscore/trainers/posterior"
)

// FromPosterior is the Sampler of draws without a fitted model.
const FromPosterior = "posterior"

// PosteriorImputed is a table completed by draws of its cells and of the law of its rows.
type PosteriorImputed struct {
	Imputed
	Law       *posterior.Drawn  // what the chains tell
	Transform transform.Columns // that the law is of
	scale     data.Scale        // of columns after them
}

// Converged says that the chains have met.
func (r *PosteriorImputed) Converged() bool { return r.Law.Met() }

// Posterior draws the missing cells of a table, in its units, without a fitted model: by a
// mixture of normals that is drawn along (package posterior). It is of functions of the
// columns, which are undone; where these are nil, of NaturalFunctions. A column of levels (data.Coded)
// is taken by its levels, whatever the functions say. With c.Donors, a draw of a column of continuous values is one of its
// observed cells. It fails where a column has no two observed values, or a cell no T(x).
func Posterior(ctx context.Context, t *data.Table, functions transform.Columns, c posterior.Config) (*PosteriorImputed, error) {
	if functions == nil {
		functions = NaturalFunctions(t, nil)
	}
	functions = slices.Clone(functions)
	for j, function := range functions {
		if _, ordinal := function.(*transform.Ordinal); !ordinal && data.Coded(t, j) != nil {
			functions[j] = codedFunction(t, j)
		}
	}
	y, err := functions.Table(t)
	if err != nil {
		return nil, err
	}
	z, scale := data.Standardise(y)
	c.Cuts, c.Levels = make([][]float64, t.D), make([]int, t.D)
	for j, function := range functions {
		switch l := function.(type) {
		case interface{ Cuts() []float64 }:
			for _, at := range l.Cuts() {
				c.Cuts[j] = append(c.Cuts[j], (at-scale.Mean[j])/scale.Deviation[j])
			}
		case nominal: // as it is
			c.Levels[j], scale.Mean[j], scale.Deviation[j] = len(l), 0, 1
			for at := j; at < len(z.Values); at += t.D {
				z.Values[at] = y.Values[at]
			}
		}
	}
	drawn, err := posterior.Draw(ctx, z, c)
	if err != nil {
		return nil, err
	}
	r := &PosteriorImputed{Imputed: Imputed{Sampler: FromPosterior, Draws: len(drawn.Gaps)}, Law: drawn, Transform: functions, scale: scale}
	f := &Model{Names: t.Names, Transform: functions, Scale: scale}
	r.Values = f.fill(t, drawn.Gaps)
	if c.Donors > 0 {
		snap(t, r.Values)
	}
	return r, f.checkDraws(r.Values)
}

// Point has the means of the draws of each missing cell, of a column of levels the most frequent level, the
// first of several. Errors are the draws' standard deviation over the root of their number.
func (r *PosteriorImputed) Point(t *data.Table) *Points {
	p := &Points{Sampler: r.Sampler, Draws: r.Draws, Values: make([]float64, len(t.Values)), Error: make([]float64, len(t.Values))}
	x := make([]float64, r.Draws)
	for at := range p.Values {
		i, j := at/t.D, at%t.D
		for k := range x {
			x[k] = r.Values[(i*r.Draws+k)*t.D+j]
		}
		switch levels := data.Coded(t, j); {
		case t.Observed[at]:
			p.Values[at] = t.Values[at]
		case levels != nil:
			counts := make([]float64, len(levels))
			for _, level := range x {
				counts[int(level)]++
			}
			p.Values[at] = float64(floats.MaxIdx(counts))
		default:
			p.Values[at] = stat.Mean(x, nil)
			p.Error[at] = stat.StdDev(x, nil) / math.Sqrt(float64(r.Draws))
		}
	}
	return p
}

// snap moves values of continuous columns, which are observed ones but for rounding, to the
// nearest observed one.
func snap(t *data.Table, values []float64) {
	for j := range t.D {
		seen := slices.Sorted(slices.Values(t.Column(j)))
		for at := j; at < len(values); at += t.D {
			k, _ := slices.BinarySearch(seen, values[at])
			if k == len(seen) || k > 0 && values[at]-seen[k-1] < seen[k]-values[at] {
				k--
			}
			values[at] = seen[k]
		}
	}
}

// fill are a table's rows, each with every draw of its missing cells one after the other:
// gaps has those of the whole table, by row, for each draw, of the functions of the columns.
func (f *Model) fill(t *data.Table, gaps [][]float64) (values []float64) {
	z, next := make([]float64, t.D), 0
	for i := range t.N {
		observed, from := t.Observed[i*t.D:(i+1)*t.D], next
		for _, drawn := range gaps {
			clear(z)
			next = from
			for j, seen := range observed {
				if !seen {
					z[j] = drawn[next]
					next++
				}
			}
			f.restore(z)
			for j, seen := range observed {
				if seen {
					z[j] = t.Values[i*t.D+j]
				}
			}
			values = append(values, z...)
		}
	}
	return values
}

// NaturalFunctions are those given, nil for none; and of columns that have none levels of few values; normal scores where a column is
// clearly not normal, as its observed cells have a skewness beyond 0.5, or an excess kurtosis
// above 2, and beyond three of the standard errors √(6/n) and √(24/n) of n normal numbers;
// and else none. Scores beyond the observed ones go on for half of the range at most. A normal column of which mostly one side is missing is a little skewed, and
// scores would bend what it has in common with others.
func NaturalFunctions(t *data.Table, given transform.Columns) transform.Columns {
	functions := make(transform.Columns, t.D)
	z, _ := data.Standardise(t) // so that no power overflows
	for j := range t.D {
		if given != nil && given[j] != nil {
			functions[j] = given[j]
			continue
		}
		if data.Coded(t, j) != nil {
			functions[j] = codedFunction(t, j)
			continue
		}
		if l := levelsOf(t.Column(j)); l != nil {
			functions[j] = l
			continue
		}
		x := z.Column(j)
		n := float64(len(x))
		if math.Abs(stat.Skew(x, nil)) > max(0.5, 3*math.Sqrt(6/n)) || stat.ExKurtosis(x, nil) > max(2, 3*math.Sqrt(24/n)) {
			low, high := slices.Min(t.Column(j)), slices.Max(t.Column(j))
			functions[j] = transform.Kinds["npn"].Fit(t.Column(j), nil, low-(high-low)/2, high+(high-low)/2)
		}
	}
	return functions
}

const (
	mostLevels  = 20
	sharedValue = 5 // cells that a level has on average at least
)

// levels is the function of a column of few values that nobody called ordinal: as
// transform.Ordinal, of any number, and nothing but draws from a table alone know of it.
type levels struct{ *transform.Ordinal }

// levelsOf is nil for a column that has many values: more than 20, or one in five of its cells.
func levelsOf(x []float64) *levels {
	distinct := len(slices.Compact(slices.Sorted(slices.Values(x))))
	if distinct > mostLevels || len(x) < sharedValue*distinct {
		return nil
	}
	return &levels{transform.NewOrdinal(x, nil)}
}

// Kind implements transform.Function.
func (l *levels) Kind() string { return "levels" }

// Check implements transform.Function. A number between two values goes with the nearer one.
func (l *levels) Check(x float64) error {
	known := l.Values()
	if low, high := known[0], known[len(known)-1]; x < low || x > high {
		return fmt.Errorf("lies outside the values that the model knows, %s to %s", data.FormatNumber(low), data.FormatNumber(high))
	}
	return nil
}

// codedFunction is the function of a column of levels: nominal if there are three or more observed
// ones without an order.
func codedFunction(t *data.Table, j int) transform.Function {
	x := t.Column(j)
	if seen := slices.Compact(slices.Sorted(slices.Values(x))); data.KindOf(t, j) == data.Nominal && len(seen) > 2 {
		return nominal(seen)
	}
	return &levels{transform.NewOrdinal(x, nil)}
}

// nominal is the function of a nominal column: the codes of the levels that are observed, increasing.
// T(x) is the place among them, from 0.
type nominal []float64

// Kind implements transform.Function.
func (nominal) Kind() string { return "levels" }

// Check implements transform.Function.
func (nominal) Check(float64) error { return nil }

// Forward implements transform.Function.
func (l nominal) Forward(x float64) float64 {
	k, _ := slices.BinarySearch(l, x)
	return float64(k)
}

// Inverse implements transform.Function.
func (l nominal) Inverse(y float64) float64 { return l[int(y)] }

// Slope implements transform.Function: there is none.
func (nominal) Slope(float64) (log, curvature float64) { return 0, 0 }

// Bounds implements transform.Function.
func (l nominal) Bounds(_, _ float64) (low, high float64) { return l[0], l[len(l)-1] }

var (
	_ transform.Function = (*levels)(nil)
	_ transform.Function = nominal(nil)
)
