package regpath

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"missingscore/internal/setting"
	"missingscore/internal/spelling"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
)

// Penalty says in which order pairs join the network (docs/theory/penalties.md). Zero values mean
// the defaults named here.
type Penalty struct {
	Kind  string  `json:"kind"`            // a name of Penalties; "auto" where it can be had, else "l1" (usualColumns)
	Alpha float64 `json:"alpha,omitempty"` // of the ridge pilot, between 0 and 1; 0: by the likelihood of rows held out
}

// The kinds of penalty.
const (
	l1       = "l1"       // λ Σ_{j<k} |P_jk|
	adaptive = "adaptive" // λ Σ_{j<k} w_jk |P_jk|, w from a ridge pilot (adaptiveWeights)
	ridge    = "ridge"    // none: pairs by their strengths in a ridge pilot; λ is a threshold
	auto     = "auto"     // of l1 and adaptive the one whose path has the network of least EBIC
)

// penalties are all kinds.
var penalties = []struct {
	name, form string
	pilots     bool    // it takes a ridge pilot, which has an α
	ratio      float64 // of the largest λ to the smallest
}{
	{l1, "l1 (all pairs alike)", false, 200}, // the paper's ratio
	{adaptive, "adaptive[=ALPHA] (pairs that are strong in a ridge pilot less)", true, 1000},
	{ridge, "ridge[=ALPHA] (by the size of partial correlations in a ridge pilot)", true, 100},
	{auto, "auto (of l1 and adaptive the one with the network of least EBIC)", false, 200},
}

const alphaMust = "the pilot's shrinkage must be a number between 0 and 1"

// Penalties are the values of Penalty.Kind.
func Penalties() (names []string) {
	for _, by := range penalties {
		names = append(names, by.name)
	}
	return names
}

// PenaltyForms are what ParsePenalty reads, with a word of each.
func PenaltyForms() string {
	var forms []string
	for _, by := range penalties {
		forms = append(forms, by.form)
	}
	return listed(forms)
}

// ParsePenalty reads one of PenaltyForms.
func ParsePenalty(text string) (p Penalty, err error) {
	kind, value, has := strings.Cut(text, "=")
	if p.Kind = kind; !slices.Contains(Penalties(), kind) {
		return p, setting.Errorf("penalty", text, "it is %s%s", PenaltyForms(), spelling.DidYouMean(kind, Penalties()))
	}
	if has {
		if p.Alpha, err = number(value, alphaMust); err != nil {
			return p, setting.Errorf("penalty", text, "%v", err)
		}
	}
	return p, p.check()
}

// text is what ParsePenalty reads.
func (p Penalty) text() string {
	if p.Alpha == 0 {
		return p.Kind
	}
	return p.Kind + "=" + strconv.FormatFloat(p.Alpha, 'g', -1, 64)
}

// pilots tells whether it takes a ridge pilot.
func (p Penalty) pilots() bool { return p.Kind == adaptive || p.Kind == ridge }

// check refuses an unknown kind and a wrong α. The zero value is right: Config.usual fills it.
func (p Penalty) check() error {
	switch {
	case p == Penalty{}:
		return nil
	case !slices.Contains(Penalties(), p.Kind):
		return setting.OneOf("penalty", p.Kind, Penalties()...)
	case p.Alpha != 0 && !p.pilots():
		return setting.Errorf("penalty", p.text(), "%s has no pilot whose shrinkage could be set", p.Kind)
	case !(p.Alpha >= 0 && p.Alpha < 1):
		return setting.Errorf("penalty", p.text(), alphaMust)
	}
	return nil
}

// ratio is that of the largest λ of a path to the smallest.
func (p Penalty) ratio() float64 {
	for _, by := range penalties {
		if by.name == p.Kind {
			return by.ratio
		}
	}
	return 0
}

// usualColumns are up to how many columns auto was measured to be as good as L1 or better,
// and takes less than twice its time.
const usualColumns = 100

// usual is the penalty unless one is named.
func (c Config) usual(p engine.Problem, method estimator.Estimator) string {
	if method.OfMatrix() || p.Table.D > usualColumns || len(c.Covariates) > 0 {
		return l1
	}
	switch {
	case solvable(p, method) && !p.Domain.Censored():
		c.Penalty.Kind = ridge
	case c.Schedule == Fixed:
		return l1
	default:
		c.Penalty.Kind = auto
	}
	if _, err := c.resolvePenalty(p, method); err != nil {
		return l1
	}
	return c.Penalty.Kind
}

// resolvePenalty fills the settings that the penalty decides before the pilot is known, and
// refuses a penalty that the rest does not allow.
func (c Config) resolvePenalty(p engine.Problem, method estimator.Estimator) (Config, error) {
	kind, refusal := c.Penalty.Kind, ""
	switch {
	case kind != l1 && method.OfMatrix():
		refusal = fmt.Sprintf("its pilot is made from rows, and method %s goes by moments of pairs of columns; take l1", method.Name)
	case kind == auto && p.Domain.Bounded():
		refusal = "it compares likelihoods, whose normaliser is not known with bounds; take ridge, adaptive or l1"
	case kind == auto && !method.Deterministic():
		refusal = fmt.Sprintf("it compares paths, and those of method %s are of draws; name a penalty, or take em-exact or exact", method.Name)
	case kind == auto && (c.LambdaMax != 0 || c.LambdaMin != 0):
		refusal = "each penalty has λ of its own, so that none can be given; leave Spec.Network.LambdaMax and Spec.Network.LambdaMin out, or name a penalty"
	case kind == ridge && c.Select.Kind == byCV:
		refusal = "its networks come without distributions that rows held out could judge; take another selection, or another penalty"
	case kind == ridge && c.PathOnly:
		refusal = "its path has no estimate that could be the result; it needs the refit after the path"
	case kind == ridge && c.Refit != nil && !*c.Refit:
		refusal = "its networks have no sizes but those of a refit; leave Spec.Network.Refit=false out"
	case kind != l1 && p.Missingness != nil:
		refusal = "its pilot is of cells missing at random; here take l1"
	}
	if refusal != "" {
		return c, setting.Errorf("penalty", c.Penalty.text(), "%s", refusal)
	}
	switch {
	case method.OfMatrix(): // its moments tell λ
		return c, nil
	case kind == l1:
		return c.spanAlike(p)
	case kind == auto:
		_, err := c.spanAlike(p)
		return c, err
	case kind == ridge:
		c.Refit = new(true) // a threshold leaves no estimate of the pairs above it
	}
	if c.LambdaMax == 0 { // found after the pilot
		return c, nil
	}
	return c.span(c.Penalty.ratio(), nil)
}

// spanAlike is span for a penalty that has all pairs alike, by the table's rows.
func (c Config) spanAlike(p engine.Problem) (Config, error) {
	of := newCovariates(p.Table, c.Covariates)
	top := func() float64 {
		if p.Missingness != nil {
			return 1.3 * lambdaMax(p, nil, of) // the score of φ is left aside there
		}
		return lambdaMax(p, nil, of)
	}
	ratio := Penalty{Kind: l1}.ratio()
	if d := p.Table.D; d > DenseColumns && c.LambdaMin == 0 && !p.Domain.Bounded() {
		if c.LambdaMax == 0 {
			c.LambdaMax = top()
		}
		ratio = crowdedRatio(d, meanPairCount(p), nullGradient(p, of), c.LambdaMax*float64(p.Table.N*d))
	}
	return c.span(ratio, top)
}

// span fills the largest λ, top() unless it is given, and the smallest, which is the largest
// over ratio.
func (c Config) span(ratio float64, top func() float64) (Config, error) {
	if c.LambdaMax == 0 {
		if c.LambdaMax = top(); c.LambdaMax == 0 {
			return c, errors.New("no two columns vary together at all: the network is empty at every λ, and a path has no beginning; look at the table, or give Spec.Network.LambdaMax")
		}
	}
	setting.Default(&c.LambdaMin, c.LambdaMax/ratio)
	if !(c.LambdaMin > 0) || c.LambdaMax < c.LambdaMin || math.IsInf(c.LambdaMax, 0) {
		return c, fmt.Errorf("λ from %.4g to %.4g: %w", c.LambdaMax, c.LambdaMin, ErrLambdas)
	}
	return c, nil
}
