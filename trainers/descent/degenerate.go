package descent

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/diagnose"
	"missingscore/graph/model"
	"missingscore/trainers/gaussian/em"
)

// Degenerate says that turns lead to where some columns depend on each other exactly, and the
// likelihood has no maximum (docs/theory/complete-data.md#no-maximum).
type Degenerate struct {
	Columns []int // the least set of them; nil where they are too many to tell
	Rows    int   // that have all of Columns
	Exact   bool  // whether these rows leave room for the dependence; else it is so to rounding
}

const (
	degenerateShare = 1e-8 // of a column's variance that the others leave
	watchedTurns    = 10   // from one look to the next
)

// look says whether the model is so near to a distribution without a density that turns lead
// there: some columns are dependent but for 1e-8 of a variance, and the rows that have all of
// them leave room for it. ended says that a turn had no solution: then turns have led there.
func (f *Fit) look(ended bool) *Degenerate {
	d := &Degenerate{Columns: diagnose.Dependent(correlations(f.Model.(*model.Gaussian)), degenerateShare)}
	if d.Columns != nil {
		d.Rows, d.Exact = diagnose.Exact(f.Table, d.Columns)
	}
	if !ended && !d.Exact {
		return nil
	}
	slices.Sort(d.Columns)
	return d
}

// withdraw leaves the model at a distribution after a turn that had no solution.
func withdraw(t em.Turns, s *em.State, err error) {
	var singular *em.SingularError
	if errors.As(err, &singular) && singular.Put(t.Model) {
		return
	}
	if s.Solved != nil {
		t.Settle(s)
	}
}

// correlations are a normal model's.
func correlations(g *model.Gaussian) *mat.SymDense {
	d := g.Dim()
	r := mat.NewSymDense(d, nil)
	var factor mat.Cholesky
	var s mat.SymDense
	ok := factor.Factorize(g.Precision()) && (factor.InverseTo(&s) == nil || !math.IsInf(factor.Cond(), 1))
	for j := range d {
		r.SetSym(j, j, 1)
		for k := j + 1; ok && k < d; k++ {
			r.SetSym(j, k, s.At(j, k)/math.Sqrt(s.At(j, j)*s.At(k, k)))
		}
	}
	return r
}

// verdict says it for the columns of a table, after so many turns.
func (d *Degenerate) verdict(t *data.Table, turns int) string {
	if d.Columns == nil {
		return fmt.Sprintf("NOT converged: the likelihood has no maximum: it grows as columns come to depend on each other exactly, and after %d EM iterations they do, to rounding; look for columns that others determine (missingscore check), or estimate a network, whose penalty keeps it finite", turns)
	}
	var names []string
	for _, j := range d.Columns {
		names = append(names, t.Names[j])
	}
	why := "they do so to rounding"
	switch n := len(d.Columns); {
	case d.Exact && d.Rows == 0:
		why = "no row has all of them, to speak against it"
	case d.Exact && d.Rows <= n:
		why = fmt.Sprintf("only %d of %d rows %s all of them, as many as any dependence can meet", d.Rows, t.RowCount(), have(d.Rows))
	case d.Exact:
		why = fmt.Sprintf("they do in all of the %d rows that have them", d.Rows)
	}
	seldom := slices.MinFunc(d.Columns, func(j, k int) int { return cmp.Compare(t.ObservedIn(j), t.ObservedIn(k)) })
	return fmt.Sprintf("NOT converged: the likelihood has no maximum: after %d EM iterations it still grows as %s and %s come to depend on each other exactly: %s; leave one of them out (--exclude %s), or estimate a network, whose penalty keeps it finite",
		turns, strings.Join(names[:len(names)-1], ", "), names[len(names)-1], why, t.Names[seldom])
}

func have(rows int) string {
	if rows == 1 {
		return "has"
	}
	return "have"
}
