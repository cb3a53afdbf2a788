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

// Selection chooses λ, or edges, from a path. Zero values mean the defaults named here.
type Selection struct {
	Kind    string   `json:"kind"`            // a name of Selections; "ebic"
	Density float64  `json:"density"`         // of "density": share of all pairs that are edges
	Gamma   *float64 `json:"gamma,omitempty"` // of "ebic" and "fdr"; 0 is BIC; nil: see chooseEBIC
	Folds   int      `json:"folds"`           // of "cv"; 5
	Beta    float64  `json:"beta"`            // of "stars": the largest instability; 0.05

	FalseEdges float64 `json:"false_edges,omitempty"` // of "stability": the expected number of falsely chosen edges, at most; 1
	Share      float64 `json:"share,omitempty"`       // of "stability": the share of half samples that an edge is in; 0.75
	Rate       float64 `json:"rate,omitempty"`        // of "fdr": the false discovery rate; 0.1
}

// The kinds of selection.
const (
	byEBIC      = "ebic"
	byCV        = "cv"
	byStars     = "stars"
	byStability = "stability"
	byFDR       = "fdr"
	byDensity   = "density"
	byNone      = "none"
)

// mostGamma is the largest DefaultGamma.
const mostGamma = 0.25

// DefaultGamma is the γ of a network of d nodes whose pairs are seen in n rows on average,
//
//	γ = log(2d²/n) / (4 log d), at least 0 and at most 0.25,
//
// so that an edge costs log max(n, 2d²) unless γ is at its most (benchmarks/README.md). If γ = 0.25 chooses
// the empty network, so does the default.
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
	rateMust       = "it is fdr=RATE: the share of falsely chosen edges that may be expected, above 0 and below 1"
	falseEdgesMust = "it is stability=FALSE@SHARE: an expected number of falsely chosen edges, above 0, and the share of half samples that an edge is in, above 0.5 and at most 1; either may be left out"
)

// selector describes a kind of selection.
type selector struct {
	name     string
	form     string                                      // on the command line, with a word of what it does
	parse    func(s *Selection, value string) error      // the text after "=", "" without
	check    func(s *Selection, rows int) error          // fills zero values and checks the rest
	describe func(s Selection, bounded, law bool) string // in words
	judges   bool                                        // it goes by the data, and so may point off the path
	gamma    bool                                        // it uses γ of extended BIC
	tests    bool                                        // tests of pairs choose the edges
	searches bool                                        // it looks at networks from the sparsest on, no further than it has to
	divides  bool                                        // it fits paths to parts of the rows
	ownEdges bool                                        // its edges are of no point of the path, and so need a refit
}

// selectors are all kinds; the first is the default.
var selectors = []selector{
	{name: byEBIC, form: "ebic", judges: true, gamma: true, searches: true, parse: noValue, check: checkGamma,
		describe: func(s Selection, bounded, law bool) string {
			switch {
			case law:
				return fmt.Sprintf("extended BIC with the score-matching loss in place of the likelihood, whose normaliser is not known with this missingness, γ %s", s.gammaText())
			case bounded:
				return fmt.Sprintf("extended BIC, each network at its least score-matching loss on completed rows, in place of the likelihood, whose normaliser is not known on this support; an edge costs what a superfluous one gains; γ %s", s.gammaText())
			}
			return fmt.Sprintf("extended BIC on the observed cells, each network at its greatest likelihood, γ %s", s.gammaText())
		}},
	{name: byCV, form: "cv[=FOLDS] (loss of rows held out)", judges: true, divides: true,
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
				return setting.Errorf("select", fmt.Sprintf("cv=%d", s.Folds), "from 2 folds to one for each of the table's %d rows are possible", rows)
			}
			return nil
		},
		describe: func(s Selection, _, _ bool) string {
			return fmt.Sprintf("cross-validation: least loss of the rows held out (of em-exact greatest likelihood), %d folds", s.Folds)
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
			return fmt.Sprintf("StARS: the densest network with an instability of at most %g over subsamples", s.Beta)
		}},
	{name: byStability, form: "stability[=FALSE][@SHARE] (edges in a SHARE of half samples, so many that at most FALSE wrong ones are expected)",
		judges: true, searches: true, divides: true, ownEdges: true, parse: parseStability,
		check: func(s *Selection, rows int) error {
			setting.Default(&s.FalseEdges, defaultFalseEdges)
			setting.Default(&s.Share, defaultShare)
			if !(s.FalseEdges > 0) || math.IsInf(s.FalseEdges, 0) || !(s.Share > 0.5 && s.Share <= 1) {
				return setting.Errorf("select", fmt.Sprintf("stability=%g@%g", s.FalseEdges, s.Share), falseEdgesMust)
			}
			if rows < 8 {
				return setting.Errorf("select", byStability, "the table has %d rows, and half of them must be 4 or more", rows)
			}
			return nil
		},
		describe: func(s Selection, _, _ bool) string {
			return fmt.Sprintf("stability: edges in a share of %g or more of the networks of %d complementary half samples, whose size is such that at most %g false ones are expected", s.Share, 2*halvings, s.FalseEdges)
		}},
	{name: byFDR, form: "fdr[=RATE] (pairs with q ≤ RATE by Spec.Inference model or robust: about that share of the edges is false)",
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
			return fmt.Sprintf("false discovery rate: pairs with a q value of at most %g, with few rows tested by one step from the network of extended BIC with γ %s", s.Rate, s.gammaText())
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

// number reads a value, which zero would leave at its default.
func number(value, must string) (float64, error) {
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || x == 0 {
		return 0, errors.New(must)
	}
	return x, nil
}

func checkGamma(s *Selection, _ int) error {
	if s.Gamma != nil && !(*s.Gamma >= 0 && *s.Gamma <= 1) {
		return setting.Errorf("gamma", *s.Gamma, "γ of the extended BIC is a number from 0, which is BIC, to 1")
	}
	return nil
}

// gammaText is "= 0.1", or how γ is found where it is not yet.
func (s Selection) gammaText() string {
	if s.Gamma == nil {
		return "by the numbers of rows and columns"
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

// by is the selector of a kind; the zero selector, whose name is "", if there is none.
func (s Selection) by() selector {
	if i := slices.IndexFunc(selectors, func(by selector) bool { return by.name == s.Kind }); i >= 0 {
		return selectors[i]
	}
	return selector{}
}

// names of those selectors for which of holds.
func names(of func(selector) bool) (names []string) {
	for _, by := range selectors {
		if of(by) {
			names = append(names, by.name)
		}
	}
	return names
}

// Selections are the values of Selection.Kind.
func Selections() []string { return names(func(selector) bool { return true }) }

// GammaSelections are the kinds that use γ.
func GammaSelections() []string { return names(func(by selector) bool { return by.gamma }) }

// SelectionForms are what ParseSelection reads, with a word of each.
func SelectionForms() string {
	var forms []string
	for _, by := range selectors {
		forms = append(forms, by.form)
	}
	return listed(forms)
}

// listed is "a, b or c".
func listed(forms []string) string {
	last := len(forms) - 1
	return strings.Join(forms[:last], ", ") + " or " + forms[last]
}

// ParseSelection reads one of SelectionForms, and fills defaults.
func ParseSelection(text string) (Selection, error) {
	kind, value, has := strings.Cut(text, "=")
	s := Selection{Kind: kind}
	if s.by().name == "" || has && value == "" {
		return Selection{}, setting.Errorf("select", text, "it is %s%s", SelectionForms(), spelling.DidYouMean(kind, Selections()))
	}
	if err := s.by().parse(&s, value); err != nil {
		return Selection{}, setting.Errorf("select", text, "%v", err)
	}
	return s.Resolve(math.MaxInt)
}

// Resolve fills zero values for a table of so many rows and checks the rest.
func (s Selection) Resolve(rows int) (Selection, error) {
	setting.Default(&s.Kind, selectors[0].name)
	by := s.by()
	if by.name == "" {
		return s, setting.OneOf("select", s.Kind, Selections()...)
	}
	err := by.check(&s, rows)
	return s, err
}

// Judges tells whether a criterion on the data chooses, which may point off the path.
func (s Selection) Judges() bool { return s.by().judges }

// UsesGamma tells whether it uses γ.
func (s Selection) UsesGamma() bool { return s.by().gamma }

// ByTests tells whether tests of pairs choose the edges.
func (s Selection) ByTests() bool { return s.by().tests }

// Resamples tells whether it divides the rows.
func (s Selection) Resamples() bool { return s.by().divides }

// Describe says in words how it chooses, of columns with a bounded domain or of cells that are
// missing by a known law.
func (s Selection) Describe(bounded, law bool) string {
	if by := s.by(); by.name != "" {
		return by.describe(s, bounded, law)
	}
	return s.Kind
}
