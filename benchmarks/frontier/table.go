package frontier

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/markdown"
	"missingscore/internal/picture"
)

// Tables are the page's: "frontier", all situations, and "which", who is ahead in each, from
// the results in a folder.
func Tables(results string, experiments []harness.Experiment) ([]markdown.Table, error) {
	all := markdown.Table{Name: "frontier", Header: []string{"situation", "measured", "ahead", "level with it", "behind", "replicates"}}
	which := markdown.Table{Name: "which", Header: []string{"situation", "ahead, of this program's methods and their rivals"}}
	found, err := Standings(results, experiments)
	if err != nil {
		return nil, err
	}
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
	return []markdown.Table{all, which}, nil
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
func Standings(results string, experiments []harness.Experiment) (found []Found, err error) {
	for _, s := range situations {
		for _, e := range experiments {
			if e.Name != s.experiment {
				continue
			}
			l, err := harness.Load(e, results)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.experiment, err)
			}
			list, replicates, err := s.standings(l.Results)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.experiment, err)
			}
			if list != nil {
				found = append(found, Found{s, list, replicates})
			}
		}
	}
	return found, nil
}

// others are names that say more than a method's own: whose it is, or how it is asked for.
var others = map[string]string{
	"glasso": "EM + glasso (R)", "cglasso": "cglasso (R)", "mice pmm": "mice pmm (R)", "mice norm": "mice norm (R)",
	"em-exact": "`em-exact`", "em-exact, ridge": "`em-exact --penalty ridge`", "em-exact, auto": "`em-exact --penalty auto`", "exact": "`exact`", "posterior": "`impute TABLE`",
	"exact (truncation ignored)": "`exact`, bounds ignored", "em-exact (truncation ignored)": "`em-exact`, bounds ignored",
	"em":         "EM",
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
