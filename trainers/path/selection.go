package path

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"missingscore/internal/setting"
	"missingscore/internal/spelling"
	"missingscore/trainers/estimator"
)

// Selection chooses from a path. Zero values mean the defaults named here.
type Selection struct {
	Kind    string   `json:"kind"`            // a name of Selections; "ebic"
	Density float64  `json:"density"`         // of "density": share of all pairs that are edges
	Gamma   *float64 `json:"gamma,omitempty"` // of "ebic" and "fdr"; 0 is BIC; nil: DefaultGamma
	Folds   int      `json:"folds"`           // of "cv"; 5
	Beta    float64  `json:"beta"`            // of "stars": the largest instability; 0.05

	FalseEdges float64 `json:"false_edges,omitempty"` // of "stability": how many falsely chosen edges may be expected, at most; 1
	Share      float64 `json:"share,omitempty"`       // of "stability": of half samples, in which an edge is to be; 0.75
	Rate       float64 `json:"rate,omitempty"`        // of "fdr": the false discovery rate; 0.1
}

// selector is a way to choose from a path.
type selector interface {
	// name is Selection.Kind.
	name() string
	// form is how the command line takes it, with a word of what it does.
	form() string
	// parse reads what follows "=" on the command line, "" where nothing does.
	parse(value string) (Selection, error)
	// resolve fills zero values for a table of so many rows and checks the rest.
	resolve(s Selection, rows int) (Selection, error)
	// suits refuses a method whose paths it cannot choose from.
	suits(method estimator.Estimator) error
	// refit says whether the chosen network is fitted without the penalty, and refuses what
	// c asks for and it cannot give; law: cells are missing by a known law.
	refit(c Config, law bool) (bool, error)
	// judges says whether it goes by the data, and so may point off the path.
	judges() bool
	// usesGamma says whether γ of extended BIC has a part in it.
	usesGamma() bool
	// byTests says whether tests of pairs choose the edges.
	byTests() bool
	// searches says whether it looks at networks of the path from the sparsest on, and no
	// further than it has to where there is no law of missing cells.
	searches() bool
	// describe says in words how it chooses.
	describe(s Selection, bounded, law bool) string
	// parts are the rows of paths that it needs beside the whole table's; nil for none.
	parts(s Selection, rows int, seed uint64) []rowPart
	// most is of how many edges a part's network may be, of which then the densest counts
	// alone; 0: all networks count.
	most(r *Run) int
	// choose chooses when the path, and those of parts, are done.
	choose(ctx context.Context, r *Run) (choice, error)
}

// selectors are all there are; the first is the default.
var selectors = []selector{ebic{}, crossValidation{}, stars{}, stability{}, fdr{}, density{}, none{}}

// choice is what a selection takes from a path.
type choice struct {
	scores   []float64 // one a point, the smaller the better; nil for none
	point    int       // of the path
	edges    []bool    // pairs, where they are not the point's but of the selection's own; nil: the point's
	unjudged bool      // no point has a score
	words    string    // what there is to say of the choice; "" for nothing
}

// Selections are the values of Selection.Kind.
func Selections() (names []string) {
	for _, s := range selectors {
		names = append(names, s.name())
	}
	return names
}

// SelectionForms are what ParseSelection reads, with a word of each.
func SelectionForms() string {
	var forms []string
	for _, s := range selectors {
		forms = append(forms, s.form())
	}
	return listed(forms)
}

// by is the selector of a kind; ok only where there is one.
func (s Selection) by() (by selector, ok bool) {
	for _, by := range selectors {
		if by.name() == s.Kind {
			return by, true
		}
	}
	return nil, false
}

// Resolve fills zero values for a table of so many rows and checks the rest.
func (s Selection) Resolve(rows int) (Selection, error) {
	setting.Default(&s.Kind, selectors[0].name())
	by, ok := s.by()
	if !ok {
		return s, setting.OneOf("select", s.Kind, Selections()...)
	}
	return by.resolve(s, rows)
}

// ParseSelection reads one of SelectionForms, and fills defaults.
func ParseSelection(text string) (Selection, error) {
	kind, value, has := strings.Cut(text, "=")
	by, ok := Selection{Kind: kind}.by()
	if !ok || has && value == "" {
		return Selection{}, setting.Errorf("select", text, "it is %s%s", SelectionForms(), spelling.DidYouMean(kind, Selections()))
	}
	s, err := by.parse(value)
	if err != nil {
		return Selection{}, setting.Errorf("select", text, "%v", err)
	}
	return s.Resolve(math.MaxInt)
}

// Judges says whether a criterion on the data chooses, which may point off the path.
func (s Selection) Judges() bool {
	by, ok := s.by()
	return ok && by.judges()
}

// UsesGamma says whether γ has a part in it.
func (s Selection) UsesGamma() bool {
	by, ok := s.by()
	return ok && by.usesGamma()
}

// GammaSelections are the kinds in which γ has a part.
func GammaSelections() (names []string) {
	for _, by := range selectors {
		if by.usesGamma() {
			names = append(names, by.name())
		}
	}
	return names
}

// ByTests says whether tests of pairs choose the edges.
func (s Selection) ByTests() bool {
	by, ok := s.by()
	return ok && by.byTests()
}

// searches says whether it looks at the path's networks no further than it has to.
func (s Selection) searches() bool {
	by, ok := s.by()
	return ok && by.searches()
}

// Resamples says whether it divides the rows.
func (s Selection) Resamples() bool { return s.smallParts() != nil }

// holdsOut says whether rows held out judge the networks of others.
func (s Selection) holdsOut() bool {
	return slices.ContainsFunc(s.smallParts(), func(p rowPart) bool { return p.heldOut != nil })
}

// smallParts are the parts that a small table is divided into.
func (s Selection) smallParts() []rowPart {
	by, ok := s.by()
	if s, err := s.Resolve(math.MaxInt); ok && err == nil {
		return by.parts(s, smallTable, 0)
	}
	return nil
}

// smallTable has enough rows to be divided.
const smallTable = 100

// Describe says in words how it chooses, of columns with a bounded domain or of cells that
// are missing by a known law.
func (s Selection) Describe(bounded, law bool) string {
	by, ok := s.by()
	if !ok {
		return s.Kind
	}
	return by.describe(s, bounded, law)
}

// plain is what most selections have in common: no value, every method, a result with its
// penalty, one path.
type plain struct{}

func (plain) suits(estimator.Estimator) error { return nil }

func (plain) refit(c Config, _ bool) (bool, error) { return c.Refit != nil && *c.Refit, nil }

func (plain) judges() bool { return true }

func (plain) usesGamma() bool { return false }

func (plain) byTests() bool { return false }

func (plain) searches() bool { return false }

func (plain) parts(Selection, int, uint64) []rowPart { return nil }

func (plain) most(*Run) int { return 0 }

// noValue refuses a value where there is none to be given.
func noValue(value string) error {
	if value != "" {
		return errors.New("it takes no value")
	}
	return nil
}

// number reads a value of a selection, which zero would leave at its default.
func number(value, must string) (float64, error) {
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || x == 0 {
		return 0, errors.New(must)
	}
	return x, nil
}

// choose is the selection's choice.
func (r *Run) choose(ctx context.Context) (choice, error) {
	by, _ := r.Config.Select.by()
	return by.choose(ctx, r)
}

// choosable says which points may be chosen: an unfinished one only where none is finished.
func (r *Run) choosable() []bool {
	points, ok := r.State.Points, make([]bool, len(r.State.Points))
	none := !slices.ContainsFunc(points, func(p Point) bool { return !p.Unfinished })
	for i, p := range points {
		ok[i] = none || !p.Unfinished
	}
	return ok
}

// least is the choice of the point with the smallest score, of equal ones the first; where
// none has a score, the sparsest.
func (r *Run) least(scores []float64) choice {
	ok, chosen := r.choosable(), 0
	for ; !ok[chosen]; chosen++ {
	}
	for i, v := range scores {
		if ok[i] && (v < scores[chosen] || math.IsNaN(scores[chosen]) && !math.IsNaN(v)) {
			chosen = i
		}
	}
	return choice{scores: scores, point: chosen, unjudged: math.IsNaN(scores[chosen])}
}
