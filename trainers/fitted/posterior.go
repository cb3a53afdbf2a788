package fitted

import (
	"context"
	"math"
	"slices"

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
}

// Converged says that the chains have met: posterior.Met.
func (r *PosteriorImputed) Converged() bool { return posterior.Met(r.Law.Mixing) }

// Posterior draws the missing cells of a table, in its units, without a fitted model: by a
// mixture of normals that is drawn along (package posterior). It is of functions of the
// columns, which are undone; where these are nil, of NaturalFunctions. It fails where a column has no two observed
// values, or a cell no T(x).
func Posterior(ctx context.Context, t *data.Table, functions transform.Columns, c posterior.Config) (*PosteriorImputed, error) {
	if functions == nil {
		functions = NaturalFunctions(t, nil)
	}
	y, err := functions.Table(t)
	if err != nil {
		return nil, err
	}
	z, scale := data.Standardise(y)
	c.Cuts = make([][]float64, t.D)
	for j, function := range functions {
		if l, ok := function.(interface{ Cuts() []float64 }); ok {
			for _, at := range l.Cuts() {
				c.Cuts[j] = append(c.Cuts[j], (at-scale.Mean[j])/scale.Deviation[j])
			}
		}
	}
	drawn, err := posterior.Draw(ctx, z, c)
	if err != nil {
		return nil, err
	}
	r := &PosteriorImputed{Imputed: Imputed{Sampler: FromPosterior, Draws: len(drawn.Gaps)}, Law: drawn, Transform: functions}
	f := &Model{Names: t.Names, Transform: functions, Scale: scale}
	r.Values = f.fill(t, drawn.Gaps)
	return r, f.checkDraws(r.Values)
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

// Check implements transform.Function.
func (l *levels) Check(float64) error { return nil }

var _ transform.Function = (*levels)(nil)
