package frontier

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"missingscore/benchmarks/harness"
	"missingscore/internal/picture"
)

// subjects divide the page's picture into parts whose methods can be told apart. Every experiment of
// a situation is in one of them.
var subjects = []struct {
	name, title string
	experiments []string
}{
	{"networks", "Networks", []string{"networks", "dense-missing", "mar"}},
	{"edges", "The choice of edges", []string{"deciding"}},
	{"imputation", "Filling in", []string{"imputation"}},
	{"densities", "Models that are not normal", []string{"ica-dim", "neural", "neural-curve", "neural-mar"}},
}

// furthest is where a picture ends: who is further behind stands there.
const furthest = 2.5

// Figures are the page's pictures as SVG, by their names: of each situation the error of every method
// over the best one's, of AUC and F1 what they are short of 1.
func Figures(results string, experiments []harness.Experiment) (map[string]string, error) {
	found, err := Standings(results, experiments)
	if err != nil {
		return nil, err
	}
	svg := map[string]string{}
	for _, s := range subjects {
		of := slices.DeleteFunc(slices.Clone(found), func(f Found) bool { return !slices.Contains(s.experiments, f.experiment) })
		if svg[s.name], err = figure(s.title, of); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return svg, nil
}

// figure has the situations as rows. Running means of the parameters are the rule, so that a method
// looks alike with and without.
func figure(title string, found []Found) (string, error) {
	var rows []string
	var marks []picture.Marks
	for row, f := range found {
		rows = append(rows, fmt.Sprintf("%s (%s)", f.words, f.measure))
		for _, s := range f.list {
			m := picture.Marks{Name: strings.TrimSuffix(s.method, ", averaged"), Title: strings.ReplaceAll(named(s.method), "`", "")}
			i := slices.IndexFunc(marks, func(n picture.Marks) bool { return n.Title == m.Title })
			if i < 0 {
				i = len(marks)
				marks = append(marks, m)
			}
			marks[i].X, marks[i].Row = append(marks[i].X, min(furthest, f.error(s)/f.error(f.list[0]))), append(marks[i].Row, row)
		}
	}
	p, err := picture.Rows(title, fmt.Sprintf("error, of the best's (more than %g at the edge)", furthest), rows, marks)
	if err != nil {
		return "", err
	}
	return picture.SVG(p, 30*vg.Centimeter, picture.RowsHeight(max(len(rows), len(marks))))
}

// error is a method's: what it is short of 1 where larger is better.
func (f Found) error(s standing) float64 {
	if f.smaller {
		return s.value
	}
	return 1 - s.value
}
