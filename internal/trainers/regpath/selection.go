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

const (
	defaultFolds      = 5
	defaultBeta       = 0.05 // of Liu, Roeder & Wasserman 2010
	defaultFalseEdges = 1.0
	defaultShare      = 0.75
	defaultRate       = 0.1

	halvings = 50 // of "stability"

	foldsMust      = "the number of folds must be 2 or more"
	densityMust    = "the share of edges must be a number from 0 to 1"
	betaMust       = "the largest instability must be a number between 0 and 0.5"
	rateMust       = "it must be fdr=RATE with a rate above 0 and below 1"
	falseEdgesMust = "it must be stability=FALSE@SHARE: expected false edges above 0, share of half samples above 0.5 and at most 1; either may be left out"
)

type selector struct {
	name     string
	form     string                                      // on the command line, with a description
	parse    func(s *Selection, value string) error      // parses the text after "=", "" without
	check    func(s *Selection, rows int) error          // fills in zero values and checks the rest
	describe func(s Selection, bounded, law bool) string // description
	judges   bool                                        // criterion on the data, which may prefer the end of the path
	gamma    bool                                        // uses γ of extended BIC
	tests    bool                                        // chooses edges by tests of pairs
	searches bool                                        // searches from the sparsest network and extends the path as needed
	divides  bool                                        // fits paths to parts of the rows
	ownEdges bool                                        // edges belong to no point of the path and need a refit
}

// selectors are the kinds; the first is the default.
var selectors = []selector{
	{name: byEBIC, form: "ebic", judges: true, gamma: true, searches: true, parse: noValue, check: checkGamma,
		describe: func(s Selection, bounded, law bool) string {
			switch {
			case law:
				return fmt.Sprintf("extended BIC with the score-matching loss instead of the likelihood, which is unknown with this missingness; γ %s", s.gammaText())
			case bounded:
				return fmt.Sprintf("extended BIC with the score-matching loss of completed rows instead of the likelihood, which is unknown on this support; γ %s", s.gammaText())
			}
			return fmt.Sprintf("extended BIC at each network's maximum likelihood on the observed cells, γ %s", s.gammaText())
		}},
	{name: byCV, form: "cv[=FOLDS] (held-out loss)", judges: true, divides: true,
		parse: func(s *Selection, value string) (err error) {
			if value == "" {
				return nil
			}
			if s.Folds, err = strconv.Atoi(value); err != nil || s.Folds < 2 {
				return errors.New(foldsMust)
			}
			return nil
		},
		check: func(s *Selection, rows int) error {
			if setting.Default(&s.Folds, defaultFolds); s.Folds < 2 || s.Folds > rows {
				return setting.Errorf("select", fmt.Sprintf("cv=%d", s.Folds), "use at least 2 folds and at most %d, the number of rows", rows)
			}
			return nil
		},
		describe: func(s Selection, _, _ bool) string {
			return fmt.Sprintf("cross-validation: least held-out loss, for em-exact greatest likelihood, %d folds", s.Folds)
		}},
	{name: byStars, form: "stars[=BETA] (stability under subsampling)", judges: true, divides: true,
		parse: func(s *Selection, value string) (err error) {
			if value != "" {
				s.Beta, err = number(value, betaMust)
			}
			return err
		},
		check: func(s *Selection, _ int) error {
			if setting.Default(&s.Beta, defaultBeta); !(s.Beta > 0 && s.Beta < 0.5) {
				return setting.Errorf("select", fmt.Sprintf("stars=%v", s.Beta), betaMust)
			}
			return nil
		},
		describe: func(s Selection, _, _ bool) string {
			return fmt.Sprintf("StARS: the densest network with instability at most %g over subsamples", s.Beta)
		}},
	{name: byStability, form: "stability[=FALSE][@SHARE] (stability selection, FALSE expected errors)",
		judges: true, searches: true, divides: true, ownEdges: true, parse: parseStability,
		check: func(s *Selection, rows int) error {
			setting.Default(&s.FalseEdges, defaultFalseEdges)
			setting.Default(&s.Share, defaultShare)
			if !(s.FalseEdges > 0) || math.IsInf(s.FalseEdges, 0) || !(s.Share > 0.5 && s.Share <= 1) {
				return setting.Errorf("select", fmt.Sprintf("stability=%g@%g", s.FalseEdges, s.Share), falseEdgesMust)
			}
			if rows < 8 {
				return setting.Errorf("select", byStability, "the table has %d rows, but stability needs at least 8", rows)
			}
			return nil
		},
		describe: func(s Selection, _, _ bool) string {
			return fmt.Sprintf("stability selection: edges in a share of at least %g of %d complementary half samples, with at most %g expected false edges", s.Share, 2*halvings, s.FalseEdges)
		}},
	{name: byFDR, form: "fdr[=RATE] (false discovery rate)",
		judges: true, gamma: true, tests: true, searches: true, ownEdges: true,
		parse: func(s *Selection, value string) (err error) {
			if value != "" {
				s.Rate, err = number(value, rateMust)
			}
			return err
		},
		check: func(s *Selection, rows int) error {
			if setting.Default(&s.Rate, defaultRate); !(s.Rate > 0 && s.Rate < 1) {
				return setting.Errorf("select", fmt.Sprintf("fdr=%g", s.Rate), rateMust)
			}
			return checkGamma(s, rows)
		},
		describe: func(s Selection, _, _ bool) string {
			return fmt.Sprintf("false discovery rate: pairs with q ≤ %g; with few rows tested from the network of extended BIC with γ %s", s.Rate, s.gammaText())
		}},
	{name: byDensity, form: "density=F (share of edges)",
		parse: func(s *Selection, value string) (err error) {
			if s.Density, err = strconv.ParseFloat(value, 64); err != nil {
				return errors.New(densityMust)
			}
			return nil
		},
		check: func(s *Selection, _ int) error {
			if !(s.Density >= 0 && s.Density <= 1) {
				return setting.Errorf("select", fmt.Sprintf("density=%v", s.Density), densityMust)
			}
			return nil
		},
		describe: func(s Selection, _, _ bool) string { return fmt.Sprintf("density %g", s.Density) }},
	{name: byNone, form: "none (the smallest)", parse: noValue,
		check:    func(*Selection, int) error { return nil },
		describe: func(Selection, bool, bool) string { return "none: the smallest λ" }},
}

func noValue(_ *Selection, value string) error {
	if value != "" {
		return errors.New("it takes no value")
	}
	return nil
}

// Zero is an error because it means the default.
func number(value, must string) (float64, error) {
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || x == 0 {
		return 0, errors.New(must)
	}
	return x, nil
}

func checkGamma(s *Selection, _ int) error {
	if s.Gamma != nil && !(*s.Gamma >= 0 && *s.Gamma <= 1) {
		return setting.Errorf("gamma", *s.Gamma, "γ of the extended BIC must be from 0 to 1; 0 is BIC")
	}
	return nil
}

func (s Selection) gammaText() string {
	if s.Gamma == nil {
		return "by numbers of rows and columns"
	}
	return fmt.Sprintf("= %.3g", *s.Gamma)
}

func parseStability(s *Selection, value string) (err error) {
	number, share, has := strings.Cut(value, "@")
	if number != "" {
		s.FalseEdges, err = strconv.ParseFloat(number, 64)
	}
	if has && err == nil {
		s.Share, err = strconv.ParseFloat(share, 64)
	}
	if err != nil || number != "" && s.FalseEdges == 0 || has && s.Share == 0 {
		return errors.New(falseEdgesMust)
	}
	return nil
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

func selectionForms() string {
	var forms []string
	for _, by := range selectors {
		forms = append(forms, by.form)
	}
	return listed(forms)
}

func listed(forms []string) string {
	last := len(forms) - 1
	return strings.Join(forms[:last], ", ") + " or " + forms[last]
}

// ParseSelection parses one of SelectionForms and fills in defaults.
func ParseSelection(text string) (Selection, error) {
	kind, value, has := strings.Cut(text, "=")
	s := Selection{Kind: kind}
	if s.by().name == "" || has && value == "" {
		return Selection{}, setting.Errorf("select", text, "it is %s%s", selectionForms(), spelling.DidYouMean(kind, Selections()))
	}
	if err := s.by().parse(&s, value); err != nil {
		return Selection{}, setting.Errorf("select", text, "%v", err)
	}
	return s.Resolve(math.MaxInt)
}

func (s Selection) Resolve(rows int) (Selection, error) {
	setting.Default(&s.Kind, selectors[0].name)
	by := s.by()
	if by.name == "" {
		return s, setting.OneOf("select", s.Kind, Selections()...)
	}
	err := by.check(&s, rows)
	return s, err
}

// Judges reports whether a criterion on the data chooses, which may prefer the end of the path.
func (s Selection) Judges() bool { return s.by().judges }

func (s Selection) UsesGamma() bool { return s.by().gamma }

// ByTests reports whether tests of pairs choose the edges.
func (s Selection) ByTests() bool { return s.by().tests }

// Resamples reports whether the selection fits parts of the rows.
func (s Selection) Resamples() bool { return s.by().divides }

// Describe describes the selection; bounded reports a domain, law a missingness mechanism.
func (s Selection) Describe(bounded, law bool) string {
	if by := s.by(); by.name != "" {
		return by.describe(s, bounded, law)
	}
	return s.Kind
}
