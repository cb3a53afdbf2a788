package fitted

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/internal/data/transform"
	"missingscore/internal/trainers/posterior"
)

// FromPosterior is the Sampler of draws without a fitted model.
const FromPosterior = "posterior"

// PosteriorImputed is a table completed by posterior draws of missing cells and parameters.
type PosteriorImputed struct {
	Imputed
	Law       *posterior.Drawn  // the draws and their diagnostics
	Transform transform.Columns // the transform of the mixture's columns
	scale     data.Scale        // of transformed columns
}

func (r *PosteriorImputed) Converged() bool { return r.Law.Met() }

// PosteriorConfig configures Posterior. Zero values select the defaults.
//
//	Draws      int // completed tables; 1
//	Components int // maximum number of mixture components; 10 or fewer, by rows, columns and, for few rows, held-out rows
//	WarmUp     int // discarded iterations per chain; 100
//	Iterations int // kept iterations per chain; doubled until the chains have converged
//	Seed       uint64
//	Keep       int // parameter draws to keep, evenly spaced; 0
//	Donors     int // donor rows of predictive-mean matching; 0: draws from the model
//	Workers    int // threads; results do not depend on them
//	Observe    func(done, total int) // called after each chain; may be nil
//	Partial    *Partial // saved chains to continue, may be nil
//	Save       func(*Partial) error // called after each chain and before an interrupted run returns; may be nil
//	Cuts, Levels // set by Posterior
type PosteriorConfig = posterior.Config

// Posterior draws a table's missing cells, in its units, with the parameters of a normal mixture
// (package posterior) of transformed columns: functions, or NaturalFunctions where nil. It fails if
// a column has fewer than two distinct observed values, or a cell lies outside its transform.
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
		case nominal:
			c.Levels[j], scale.Mean[j], scale.Deviation[j] = len(l.Values()), 0, 1
			for at := j; at < len(z.Values); at += t.D {
				z.Values[at] = y.Values[at]
			}
		case interface{ Cuts() []float64 }:
			c.Cuts[j] = standardCuts(l.Cuts(), scale, j)
		}
	}
	drawn, err := posterior.Draw(ctx, z, c)
	if err != nil {
		return nil, err
	}
	r := &PosteriorImputed{Imputed: Imputed{Sampler: FromPosterior, Draws: len(drawn.Gaps)}, Law: drawn, Transform: functions, scale: scale}
	f := &Model{Names: t.Names, Transform: functions, Scale: scale}
	r.Values = fill(f, t, drawn.Gaps)
	if c.Donors > 0 {
		snap(t, r.Values)
	}
	return r, f.checkDraws(r.Values)
}

// Point returns the mean of each missing cell's draws, for levels the mode; errors are the draws'
// standard deviation over √n.
func (r *PosteriorImputed) Point(t *data.Table) *Points {
	p := &Points{Sampler: r.Sampler, Draws: r.Draws, Values: slices.Clone(t.Values), Error: make([]float64, len(t.Values))}
	x := make([]float64, r.Draws)
	for at, seen := range t.Observed {
		for k := range x {
			x[k] = r.row(at/t.D, k, t.D)[at%t.D]
		}
		if !seen {
			p.average(at, x, float64(r.Draws), data.Coded(t, at%t.D) != nil)
		}
	}
	return p
}

// The nearest observed value undoes rounding of the transform.
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

// fill returns the table's rows, each with every draw of its missing cells; gaps has, per draw, the
// transformed missing cells by row.
func fill(f *Model, t *data.Table, gaps [][]float64) []float64 {
	values := make([]float64, len(t.Values)*len(gaps))
	for k, drawn := range gaps {
		z, next := make([]float64, len(t.Values)), 0
		for at, seen := range t.Observed {
			if !seen {
				z[at] = drawn[next]
				next++
			}
		}
		f.restore(z)
		for at, seen := range t.Observed {
			if seen {
				z[at] = t.Values[at]
			}
			values[(at/t.D*len(gaps)+k)*t.D+at%t.D] = z[at]
		}
	}
	return values
}

// NaturalFunctions fills nil functions: levels for columns with few values; normal scores if the
// skewness is beyond 0.5 and three standard errors √(6/n), or the excess kurtosis above 2 and three
// standard errors √(24/n); else none. Normal scores extrapolate by at most half of the observed
// range.
func NaturalFunctions(t *data.Table, given transform.Columns) transform.Columns {
	functions := make(transform.Columns, t.D)
	z, _ := data.Standardise(t) // avoids overflow of powers
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
	sharedValue = 5 // minimum mean number of cells per level
)

// levels is transform.Ordinal without bounds, for draws from a table alone.
type levels struct{ *transform.Ordinal }

// levelsOf is nil for more than 20 values, or more than one per five cells.
func levelsOf(x []float64) *levels {
	distinct := len(slices.Compact(slices.Sorted(slices.Values(x))))
	if distinct > mostLevels || len(x) < sharedValue*distinct {
		return nil
	}
	return &levels{transform.NewOrdinal(x, nil)}
}

func (l *levels) Kind() string { return "levels" }

// Check accepts any number: it counts as the nearest value.
func (l *levels) Check(float64) error { return nil }

// Clamped reports, per numeric column of few values, the observed cells outside the values of a
// kept model.
func (f *Model) Clamped(t *data.Table) (notes []string) {
	for j, function := range f.Transform {
		l, few := function.(*levels)
		if !few {
			continue
		}
		known, x, outside := l.Values(), t.Column(j), 0
		low, high := known[0], known[len(known)-1]
		for _, v := range x {
			if v < low || v > high {
				outside++
			}
		}
		if outside > 0 {
			notes = append(notes, fmt.Sprintf("%s: outside the values of the model, %s to %s, in %d of %d observed cells; there the nearest value counts", t.Names[j], data.FormatNumber(low), data.FormatNumber(high), outside, len(x)))
		}
	}
	return notes
}

// codedFunction returns a nominal function for three or more observed levels without an order.
func codedFunction(t *data.Table, j int) transform.Function {
	l := &levels{transform.NewOrdinal(t.Column(j), nil)}
	if data.KindOf(t, j) == data.Nominal && len(l.Values()) > 2 {
		return nominal{l}
	}
	return l
}

// nominal maps observed levels, increasing, to 0, 1, ….
type nominal struct{ *levels }

func (l nominal) Forward(x float64) float64 {
	k, _ := slices.BinarySearch(l.Values(), x)
	return float64(k)
}

func (l nominal) Inverse(y float64) float64 { return l.Values()[int(y)] }
