package regpath

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"missingscore/internal/setting"
	"missingscore/internal/spelling"
	"missingscore/internal/trainers/engine"
	"missingscore/trainers/estimator"
)

// Penalty orders the pairs (docs/theory/penalties.md). Zero values mean defaults.
type Penalty struct {
	Kind  string  `json:"kind"`            // a name of Penalties; default "auto" if possible, else "l1" (usualColumns)
	Alpha float64 `json:"alpha,omitempty"` // shrinkage of the ridge pilot, between 0 and 1; 0: by likelihood and degrees of freedom
}

const (
	l1       = "l1"       // λ Σ_{j<k} |P_jk|
	adaptive = "adaptive" // λ Σ_{j<k} w_jk |P_jk|, w from a ridge pilot (adaptiveWeights)
	ridge    = "ridge"    // no penalty: pairs by their strengths in a ridge pilot; λ is a threshold
	auto     = "auto"     // l1 or adaptive, by the least EBIC
)

var penalties = []struct{ name, form string }{
	{l1, "l1 (all pairs equally)"},
	{adaptive, "adaptive[=ALPHA] (less for strong pairs)"},
	{ridge, "ridge[=ALPHA] (threshold of partial correlations)"},
	{auto, "auto (l1 or adaptive, by EBIC)"},
}

const alphaMust = "the pilot's shrinkage must be a number between 0 and 1"

// Penalties returns the values of Penalty.Kind.
func Penalties() (names []string) {
	for _, by := range penalties {
		names = append(names, by.name)
	}
	return names
}

// ParsePenalty parses a form of penalties.
func ParsePenalty(text string) (p Penalty, err error) {
	kind, value, has := strings.Cut(text, "=")
	if p.Kind = kind; !slices.Contains(Penalties(), kind) {
		var forms []string
		for _, by := range penalties {
			forms = append(forms, by.form)
		}
		return p, setting.Errorf("penalty", text, "it is %s%s", listed(forms), spelling.DidYouMean(kind, Penalties()))
	}
	if has {
		if p.Alpha = number(value); math.IsNaN(p.Alpha) {
			return p, setting.Errorf("penalty", text, alphaMust)
		}
	}
	return p, p.check()
}

func (p Penalty) text() string {
	if p.Alpha == 0 {
		return p.Kind
	}
	return p.Kind + "=" + strconv.FormatFloat(p.Alpha, 'g', -1, 64)
}

func (p Penalty) pilots() bool { return p.Kind == adaptive || p.Kind == ridge }

func (p Penalty) check() error {
	switch {
	case p == Penalty{}:
		return nil
	case !slices.Contains(Penalties(), p.Kind):
		return setting.OneOf("penalty", p.Kind, Penalties()...)
	case p.Alpha != 0 && !p.pilots():
		return setting.Errorf("penalty", p.text(), "%s has no pilot; leave its shrinkage out", p.Kind)
	case !(p.Alpha >= 0 && p.Alpha < 1):
		return setting.Errorf("penalty", p.text(), alphaMust)
	}
	return nil
}

// ratio is the largest λ over the smallest.
func (p Penalty) ratio() float64 {
	switch p.Kind {
	case adaptive:
		return 1000
	case ridge:
		return 100
	}
	return 200 // the paper's
}

const usualColumns = 100

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
	if c.checkPenalty(p, method) != nil {
		return l1
	}
	return c.Penalty.Kind
}

func (c Config) checkPenalty(p engine.Problem, method estimator.Estimator) error {
	kind, refusal := c.Penalty.Kind, ""
	switch {
	case kind != l1 && method.OfMatrix():
		refusal = fmt.Sprintf("its pilot needs the rows, but method %s uses moments of pairs; use l1", method.Name)
	case kind == auto && p.Domain.Bounded():
		refusal = "it compares likelihoods, which are unknown with bounds; use ridge, adaptive or l1"
	case kind == auto && method.Draws():
		refusal = fmt.Sprintf("it cannot compare the noisy paths of method %s; name a penalty, or use em-exact or exact", method.Name)
	case kind == auto && (c.LambdaMax != 0 || c.LambdaMin != 0):
		refusal = "each penalty has its own λ; leave Spec.Network.LambdaMax and Spec.Network.LambdaMin out, or name a penalty"
	case kind == ridge && c.Select.Kind == byCV:
		refusal = "its networks have no held-out loss; use another selection or penalty"
	case kind == ridge && c.PathOnly:
		refusal = "its path needs the refit; do not switch it off"
	case kind == ridge && c.Refit != nil && !*c.Refit:
		refusal = "the sizes of its edges need a refit; leave Spec.Network.Refit=false out"
	case kind != l1 && p.Missingness != nil:
		refusal = "its pilot needs cells missing at random; use l1"
	}
	if refusal != "" {
		return setting.Errorf("penalty", c.Penalty.text(), "%s", refusal)
	}
	return nil
}
