package frontier

import (
	"fmt"

	"gonum.org/v1/plot/vg"

	"missingscore/benchmarks/harness"
	"missingscore/internal/picture"
)

// furthest is where the picture ends: who is further behind stands there.
const furthest = 2.5

// Figure is the page's picture as SVG: of each situation the error of every method over the
// best one's, of AUC and F1 what they are short of 1.
func Figure(results string, experiments []harness.Experiment) (string, error) {
	found, err := Standings(results, experiments)
	if err != nil {
		return "", err
	}
	var rows []string
	var marks []picture.Marks
	at := map[string]int{}
	for row, f := range found {
		rows = append(rows, fmt.Sprintf("%s (%s)", f.words, f.measure))
		for _, s := range f.list {
			i, ok := at[s.method]
			if !ok {
				i = len(marks)
				at[s.method] = i
				marks = append(marks, picture.Marks{Name: s.method})
			}
			marks[i].X, marks[i].Row = append(marks[i].X, min(furthest, f.error(s)/f.error(f.list[0]))), append(marks[i].Row, row)
		}
	}
	p, err := picture.Rows("Who is ahead where", fmt.Sprintf("error, of the best's (more than %g at the edge)", furthest), rows, marks)
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
