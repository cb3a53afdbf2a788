package regpath

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"missingscore/internal/setting"
	"missingscore/internal/spelling"
)

// Selection chooses λ or edges. Zero values mean the defaults below.
type Selection struct {
	Kind    string   `json:"kind"`            // a name of Selections; "ebic"
	Density float64  `json:"density"`         // "density": share of pairs that are edges
	Gamma   *float64 `json:"gamma,omitempty"` // "ebic" and "fdr"; 0 is BIC; nil: see chooseEBIC
	Folds   int      `json:"folds"`           // "cv"; 5
	Beta    float64  `json:"beta"`            // "stars": maximum instability; 0.05

	FalseEdges float64 `json:"false_edges,omitempty"` // "stability": maximum expected number of false edges; 1
	Share      float64 `json:"share,omitempty"`       // "stability": minimum share of half samples with an edge; 0.75
	Rate       float64 `json:"rate,omitempty"`        // "fdr": false discovery rate; 0.1
}

const (
	byEBIC      = "ebic"
	byCV        = "cv"
	byStars     = "stars"
	byStability = "stability"
	byFDR       = "fdr"
	byDensity   = "density"
	byNone      = "none"
)

const mostGamma = 0.25

// DefaultGamma returns γ for d nodes whose pairs are observed in n rows on average,
//
//	γ = log(2d²/n) / (4 log d), at least 0 and at most 0.25,
//
// so an edge costs log max(n, 2d²) for γ < 0.25 (benchmarks/README.md).
func DefaultGamma(d int, n float64) float64 {
	nodes := float64(d)
	return min(mostGamma, max(0, math.Log(2*nodes*nodes/n)/(4*math.Log(nodes))))
}

const halvings = 50 // of "stability"

const noValue = "it takes no value"

// selector is a kind of Selection.
type selector struct {
	name     string
	form     string // on the command line, with a description
	must     string // condition on the value
	judges   bool   // criterion on the data, which may prefer the end of the path
	gamma    bool   // uses γ of extended BIC
	tests    bool   // chooses edges by tests of pairs
	searches bool   // searches from the sparsest network and extends the path as needed
	divides  bool   // fits paths to parts of the rows
	ownEdges bool   // edges belong to no point of the path and need a refit
}

// selectors are the kinds; the first is the default.
var selectors = []selector{
	{name: byEBIC, form: "ebic", must: noValue, judges: true, gamma: true, searches: true},
	{name: byCV, form: "cv[=FOLDS] (held-out loss)", must: "the number of folds must be 2 or more", judges: true, divides: true},
	{name: byStars, form: "stars[=BETA] (stability under subsampling)", must: "the largest instability must be a number between 0 and 0.5",
		judges: true, divides: true},
	{name: byStability, form: "stability[=FALSE][@SHARE] (stability selection, FALSE expected errors)",
		must:   "it must be stability=FALSE@SHARE: expected false edges above 0, share of half samples above 0.5 and at most 1; either may be left out",
		judges: true, searches: true, divides: true, ownEdges: true},
	{name: byFDR, form: "fdr[=RATE] (false discovery rate)", must: "it must be fdr=RATE with a rate above 0 and below 1",
		judges: true, gamma: true, tests: true, searches: true, ownEdges: true},
	{name: byDensity, form: "density=F (share of edges)", must: "the share of edges must be a number from 0 to 1"},
	{name: byNone, form: "none (the smallest)", must: noValue},
}

func (s Selection) by() selector {
	if i := slices.IndexFunc(selectors, func(by selector) bool { return by.name == s.Kind }); i >= 0 {
		return selectors[i]
	}
	return selector{}
}

func names(of func(selector) bool) (names []string) {
	for _, by := range selectors {
		if of(by) {
			names = append(names, by.name)
		}
	}
	return names
}

// Selections returns the values of Selection.Kind.
func Selections() []string { return names(func(selector) bool { return true }) }

// GammaSelections returns the kinds that use γ.
func GammaSelections() []string { return names(func(by selector) bool { return by.gamma }) }

func listed(forms []string) string {
	last := len(forms) - 1
	return strings.Join(forms[:last], ", ") + " or " + forms[last]
}

// ParseSelection parses a form of selectors and fills in defaults.
func ParseSelection(text string) (Selection, error) {
	kind, value, has := strings.Cut(text, "=")
	s := Selection{Kind: kind}
	by := s.by()
	if by.name == "" || has && value == "" {
		var forms []string
		for _, by := range selectors {
			forms = append(forms, by.form)
		}
		return Selection{}, setting.Errorf("select", text, "it is %s%s", listed(forms), spelling.DidYouMean(kind, Selections()))
	}
	switch first, second, at := strings.Cut(value, "@"); {
	case kind == byDensity:
		var err error
		if s.Density, err = strconv.ParseFloat(value, 64); err != nil {
			s.Density = math.NaN()
		}
	case !has:
	case kind == byCV:
		if s.Folds, _ = strconv.Atoi(value); s.Folds == 0 {
			s.Folds = -1
		}
	case kind == byStars:
		s.Beta = number(value)
	case kind == byFDR:
		s.Rate = number(value)
	case kind == byStability:
		if first != "" {
			s.FalseEdges = number(first)
		}
		if at {
			s.Share = number(second)
		}
	}
	s, err := s.Resolve(math.MaxInt)
	if err != nil || has && by.must == noValue {
		return Selection{}, setting.Errorf("select", text, "%s", by.must)
	}
	return s, nil
}

// number returns NaN, which no setting allows, for other text and for 0, which means the default.
func number(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || x == 0 {
		return math.NaN()
	}
	return x
}

// Resolve fills in defaults and checks the rest.
func (s Selection) Resolve(rows int) (Selection, error) {
	setting.Default(&s.Kind, selectors[0].name)
	by := s.by()
	ok, value, must := true, "", by.must
	switch s.Kind {
	case byCV:
		setting.Default(&s.Folds, 5)
		ok, value = s.Folds >= 2 && s.Folds <= rows, strconv.Itoa(s.Folds)
		must = fmt.Sprintf("use at least 2 folds and at most %d, the number of rows", rows)
	case byStars:
		setting.Default(&s.Beta, 0.05) // of Liu, Roeder & Wasserman 2010
		ok, value = s.Beta > 0 && s.Beta < 0.5, fmt.Sprint(s.Beta)
	case byStability:
		setting.Default(&s.FalseEdges, 1)
		setting.Default(&s.Share, 0.75)
		ok, value = s.FalseEdges > 0 && !math.IsInf(s.FalseEdges, 0) && s.Share > 0.5 && s.Share <= 1, fmt.Sprintf("%g@%g", s.FalseEdges, s.Share)
		if ok && rows < 8 {
			ok, must = false, fmt.Sprintf("the table has %d rows, but stability needs at least 8", rows)
		}
	case byFDR:
		setting.Default(&s.Rate, 0.1)
		ok, value = s.Rate > 0 && s.Rate < 1, fmt.Sprint(s.Rate)
	case byDensity:
		ok, value = s.Density >= 0 && s.Density <= 1, fmt.Sprint(s.Density)
	}
	switch {
	case by.name == "":
		return s, setting.OneOf("select", s.Kind, Selections()...)
	case !ok:
		return s, setting.Errorf("select", s.Kind+"="+value, "%s", must)
	case by.gamma && s.Gamma != nil && !(*s.Gamma >= 0 && *s.Gamma <= 1):
		return s, setting.Errorf("gamma", *s.Gamma, "γ of the extended BIC must be from 0 to 1; 0 is BIC")
	}
	return s, nil
}

// Judges reports whether a criterion on the data chooses, which may prefer the end of the path.
func (s Selection) Judges() bool { return s.by().judges }

// ByTests reports whether tests of pairs choose the edges.
func (s Selection) ByTests() bool { return s.by().tests }

// Resamples reports whether the selection fits parts of the rows.
func (s Selection) Resamples() bool { return s.by().divides }

// Describe describes the selection; bounded reports a domain, law a missingness mechanism.
func (s Selection) Describe(bounded, law bool) string {
	gamma := "by numbers of rows and columns"
	if s.Gamma != nil {
		gamma = fmt.Sprintf("= %.3g", *s.Gamma)
	}
	switch s.Kind {
	case byEBIC:
		by := "at each network's maximum likelihood on the observed cells,"
		switch {
		case law:
			by = "with the score-matching loss instead of the likelihood, which is unknown with this missingness;"
		case bounded:
			by = "with the score-matching loss of completed rows instead of the likelihood, which is unknown on this support;"
		}
		return fmt.Sprintf("extended BIC %s γ %s", by, gamma)
	case byCV:
		return fmt.Sprintf("cross-validation: least held-out loss, for em-exact greatest likelihood, %d folds", s.Folds)
	case byStars:
		return fmt.Sprintf("StARS: the densest network with instability at most %g over subsamples", s.Beta)
	case byStability:
		return fmt.Sprintf("stability selection: edges in a share of at least %g of %d complementary half samples, with at most %g expected false edges",
			s.Share, 2*halvings, s.FalseEdges)
	case byFDR:
		return fmt.Sprintf("false discovery rate: pairs with q ≤ %g; with few rows tested from the network of extended BIC with γ %s", s.Rate, gamma)
	case byDensity:
		return fmt.Sprintf("density %g", s.Density)
	}
	return "none: the smallest λ"
}
