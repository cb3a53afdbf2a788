package path

import (
	"context"
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

// Penalty says by what a path puts pairs in order (docs/theory/penalties.md). Zero values
// mean the defaults named here.
type Penalty struct {
	Kind  string  `json:"kind"`            // a name of Penalties; "auto" where it can be had, else "l1": see Config.usual
	Alpha float64 `json:"alpha,omitempty"` // of the ridge pilot, between 0 and 1; 0: by the likelihood of rows held out
}

// penalty is a way to put pairs in order.
type penalty interface {
	// name is Penalty.Kind.
	name() string
	// form is how the command line takes it, with a word of what it does.
	form() string
	// pilots says whether it takes a ridge pilot, which has an α.
	pilots() bool
	// resolve fills what it decides of a path's settings, and refuses what it cannot serve.
	resolve(c Config, p engine.Problem, method estimator.Estimator) (Config, error)
	// prepare makes the run ready for its path: its weights or its schedule, and the largest λ
	// where none is given. What it has found is in the state, and not looked for again.
	prepare(ctx context.Context, r *Run) error
	// describe says in words how pairs come to be ordered, after prepare.
	describe(s *State) string
}

// penalties are all there are.
var penalties = []penalty{l1{}, adaptive{}, ridge{}, auto{}}

// Penalties are the values of Penalty.Kind.
func Penalties() (names []string) {
	for _, p := range penalties {
		names = append(names, p.name())
	}
	return names
}

// PenaltyForms are what ParsePenalty reads, with a word of each.
func PenaltyForms() string {
	var forms []string
	for _, p := range penalties {
		forms = append(forms, p.form())
	}
	return listed(forms)
}

// listed is "a, b or c".
func listed(forms []string) string {
	last := len(forms) - 1
	return strings.Join(forms[:last], ", ") + " or " + forms[last]
}

// by is the penalty of a kind; ok only where there is one.
func (p Penalty) by() (by penalty, ok bool) {
	for _, by := range penalties {
		if by.name() == p.Kind {
			return by, true
		}
	}
	return nil, false
}

// pilots says whether it takes a ridge pilot.
func (p Penalty) pilots() bool {
	by, ok := p.by()
	return ok && by.pilots()
}

const alphaMust = "the pilot's shrinkage must be a number between 0 and 1"

// check refuses a kind that there is not, and an α that is none; a kind that is not named yet
// is for usual to name.
func (p Penalty) check() error {
	if p == (Penalty{}) {
		return nil
	}
	by, ok := p.by()
	switch {
	case !ok:
		return setting.OneOf("penalty", p.Kind, Penalties()...)
	case p.Alpha != 0 && !by.pilots():
		return setting.Errorf("penalty", p.text(), "%s has no pilot whose shrinkage could be set", p.Kind)
	case !(p.Alpha >= 0 && p.Alpha < 1):
		return setting.Errorf("penalty", p.text(), alphaMust)
	}
	return nil
}

// usualColumns are up to how many columns auto was measured to be as good as L1 or better,
// and takes less than twice its time.
const usualColumns = 100

// UsualPenalty says in words which penalty a path has unless one is named.
func UsualPenalty() string {
	return fmt.Sprintf("auto where it can be had and there are at most %d columns, else l1", usualColumns)
}

// usual is the penalty unless one is named: auto and, where it cannot be had, on wider tables
// and for the paper's schedule, L1.
func (c Config) usual(p engine.Problem, method estimator.Estimator) Penalty {
	c.Penalty.Kind = l1{}.name()
	if c.Schedule == Fixed || method.OfMatrix() || p.Table.D > usualColumns || len(c.Covariates) > 0 {
		return c.Penalty
	}
	c.Penalty.Kind = auto{}.name()
	if _, err := (auto{}).resolve(c, p, method); err != nil {
		c.Penalty.Kind = l1{}.name()
	}
	return c.Penalty
}

func (p Penalty) text() string {
	if p.Alpha == 0 {
		return p.Kind
	}
	return p.Kind + "=" + strconv.FormatFloat(p.Alpha, 'g', -1, 64)
}

// ParsePenalty reads one of PenaltyForms.
func ParsePenalty(text string) (p Penalty, err error) {
	kind, value, has := strings.Cut(text, "=")
	p.Kind = kind
	if _, ok := p.by(); !ok {
		return p, setting.Errorf("penalty", text, "it is %s%s", PenaltyForms(), spelling.DidYouMean(kind, Penalties()))
	}
	if has {
		if p.Alpha, err = number(value, alphaMust); err != nil {
			return p, setting.Errorf("penalty", text, "%v", err)
		}
	}
	return p, p.check()
}

// piloted is what penalties with a pilot resolve: the largest λ is known after the pilot
// only. It refuses one where the table's rows are not those of a normal distribution on all
// of R^d.
func (c Config) piloted(p engine.Problem, ratio float64) (Config, error) {
	if p.Domain.Bounded() || p.Missingness != nil {
		return c, setting.Errorf("penalty", c.Penalty.text(), "its pilot is of columns without bounds, missing at random; here take l1")
	}
	if c.LambdaMax == 0 {
		return c, nil
	}
	return c.span(ratio, nil)
}

// prepare makes the run ready for its path.
func (r *Run) prepare(ctx context.Context) error {
	if m := r.ofMatrix(); m != nil {
		if err := m.take(ctx); err != nil {
			return err
		}
	}
	r.Condense(r.rows)
	by, _ := r.Config.Penalty.by()
	return by.prepare(ctx, r)
}

// Penalty is the one that the path was made with, and its pilot's shrinkage.
func (r *Run) Penalty() Penalty {
	p := r.Config.Penalty
	if came := r.State.Auto.Kind; came != "" {
		p.Kind = came
	}
	if p.pilots() {
		p.Alpha = r.State.Pilot.Alpha
	}
	return p
}

// Ordering says in words by what the path put pairs in order.
func (r *Run) Ordering() string {
	by, _ := r.Config.Penalty.by()
	return by.describe(r.State)
}

// span fills the largest λ, which is top's where none is given, and the smallest, which is
// that over ratio.
func (c Config) span(ratio float64, top func() float64) (Config, error) {
	if c.LambdaMax == 0 {
		if c.LambdaMax = top(); c.LambdaMax == 0 {
			return c, errors.New("no two columns vary together at all: the network is empty at every λ, and a path has no beginning; look at the table, or give --lambda-max")
		}
	}
	setting.Default(&c.LambdaMin, c.LambdaMax/ratio)
	if !(c.LambdaMin > 0) || c.LambdaMax < c.LambdaMin || math.IsInf(c.LambdaMax, 0) {
		return c, fmt.Errorf("λ from %.4g to %.4g: %w", c.LambdaMax, c.LambdaMin, ErrLambdas)
	}
	return c, nil
}

// span sets the run's λ, as Config.span does.
func (r *Run) span(ratio float64, top func() float64) (err error) {
	if r.Config, err = r.Config.span(ratio, top); err == nil {
		r.lambdas = r.Config.grid()
	}
	return err
}

// weigh sets the weights of the penalty, packed.
func (r *Run) weigh(weights []float64) {
	r.weights = weights
	switch s := r.schedule.(type) {
	case *turns:
		s.lasso.Weights = weights
	case *accelerated:
		s.space.weigh(weights)
	case *matrix:
		s.lasso.Weights = weights
	}
}

// sizes are the |partial correlations| of a packed precision of d columns, by pairs, as
// network.Adjacency has them.
func sizes(packed []float64, d int) (out []float64) {
	p := Point{Packed: packed}
	for j := range d {
		for k := j + 1; k < d; k++ {
			out = append(out, math.Abs(p.PartialCorrelation(d, j, k)))
		}
	}
	return out
}

// median of numbers, of an even number the mean of the middle two.
func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
