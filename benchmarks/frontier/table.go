package frontier

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/markdown"
	"missingscore/internal/picture"
)

// Tables are the page's: "frontier" and "frontier parts", all situations and those by the shape of
// a network and the law of the gaps, and "which" and "which parts", who is ahead in each, from the
// results in a folder.
func Tables(results string, experiments []harness.Experiment) (tables []markdown.Table, err error) {
	for _, of := range []struct {
		suffix string
		list   []situation
	}{{"", situations}, {" parts", parts}} {
		found, err := standings(results, experiments, of.list)
		if err != nil {
			return nil, err
		}
		tables = append(tables, tablesOf(found, of.suffix)...)
	}
	return tables, nil
}

// tablesOf are those of some situations.
func tablesOf(found []Found, suffix string) []markdown.Table {
	all := markdown.Table{Name: "frontier" + suffix, Header: []string{"situation", "measured", "ahead", "level with it", "behind", "replicates"}}
	which := markdown.Table{Name: "which" + suffix, Header: []string{"situation", "ahead, of this program's methods and their rivals"}}
	for _, f := range found {
		var level, behind []string
		ahead := []string{"**" + named(f.list[0].method) + "**"}
		for _, s := range f.list[1:] {
			if s.level {
				level = append(level, named(s.method))
				ahead = append(ahead, named(s.method))
				continue
			}
			behind = append(behind, named(s.method)+" "+f.by(s))
		}
		all.Lines = append(all.Lines, []string{f.words, f.measure, fmt.Sprintf("**%s** %.3g", named(f.list[0].method), f.list[0].value),
			strings.Join(level, "; "), strings.Join(behind, "; "), strconv.Itoa(f.replicates)})
		which.Lines = append(which.Lines, []string{f.words, strings.Join(ahead, "; ")})
	}
	return []markdown.Table{all, which}
}

// Found is a situation with its standings.
type Found struct {
	situation
	list       []standing
	replicates int
}

// by is how far behind, as it is read.
func (f Found) by(s standing) string {
	format := "by %.2g [%.2g, %.2g]"
	if f.smaller {
		format = "×%.3g [%.3g, %.3g]"
	}
	return strings.ReplaceAll(fmt.Sprintf(format, s.behind, s.low, s.top), "-", "−")
}

// Standings are those of the situations that have been run.
func Standings(results string, experiments []harness.Experiment) ([]Found, error) {
	return standings(results, experiments, slices.Concat(situations, parts))
}

func standings(results string, experiments []harness.Experiment, of []situation) (found []Found, err error) {
	read := map[string]*cells.Results{}
	for _, e := range experiments {
		if slices.ContainsFunc(of, func(s situation) bool { return s.experiment == e.Name }) {
			if read[e.Name], err = load(results, e); err != nil {
				return nil, fmt.Errorf("%s: %w", e.Name, err)
			}
		}
	}
	for _, s := range of {
		r := read[s.experiment]
		if r == nil {
			continue
		}
		list, replicates, err := s.standings(*r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.experiment, err)
		}
		if list != nil {
			found = append(found, Found{s, list, replicates})
		}
	}
	return found, nil
}

// load reads an experiment's results, with what is derived from them; nil where it has not been
// run.
func load(results string, e harness.Experiment) (*cells.Results, error) {
	l, err := harness.Load(e, results)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if derive := derived[e.Name]; derive != nil && err == nil {
		l.Results, err = derive(l.Results)
	}
	return &l.Results, err
}

// others are names that say more than a method's own: whose it is, or how it is asked for.
var others = map[string]string{
	"glasso": "EM + glasso (R)", "cglasso": "cglasso (R)", "mice pmm": "mice pmm (R)", "mice norm": "mice norm (R)",
	"em-exact": "`em-exact`", "em-exact, ridge": "`em-exact --penalty ridge`", "em-exact, auto": "`em-exact --penalty auto`", "exact": "`exact`", "posterior": "`impute TABLE`",
	"exact (truncation ignored)": "`exact`, bounds ignored", "em-exact (truncation ignored)": "`em-exact`, bounds ignored",
	"em": "EM", "EM": "EM of the likelihood",
	"iw, averaged": "Marg-IW", "em, averaged": "EM", "em-full, averaged": "`em-full`", "em-full": "`em-full`", "zeroed, averaged": "Zeroed", "missdiff, averaged": "MissDiff",
	"em-variw-mixture, averaged": "`em-variw`", "em-variw-mixture": "`em-variw`", "em-var-mixture, averaged": "`em-var`", "em-var-mixture": "`em-var`",
	"var-mixture, averaged": "`var --imputer mixture`", "var-mixture": "`var --imputer mixture`", "variw-mixture": "`variw --imputer mixture`",
	"ridge, ebic": "`--penalty ridge`", "ridge, stability=5": "ridge and `--select stability=5`",
	"auto, ebic": "`--penalty auto`, the default", "adaptive, ebic": "`--penalty adaptive`", "l1, ebic": "`--penalty l1`",
	"l1, fdr, model": "l1 and `--select fdr=0.1`, errors by the model", "l1, fdr, robust": "l1 and `fdr=0.1`, by the rows", "adaptive, fdr, robust": "adaptive and `fdr=0.1`, by the rows",
}

// named is a method's name on the page.
func named(method string) string {
	if name, ok := others[method]; ok {
		return name
	}
	return picture.MethodTitle(method)
}
