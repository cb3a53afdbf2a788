// Package mixed compares networks and imputations of tables with columns of several kinds
// (numbers, two levels, ordered and nominal levels) with programs of R, and runs every command
// by its defaults on tables as people have them.
package mixed

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strconv"

	"missingscore/benchmarks/gaps"
	"missingscore/data"
)

// columns of the results that several experiments have.
const (
	lawColumn     = "law"
	secondsColumn = "seconds" // of processor time
	versionColumn = "version" // of the program
)

// unknown stands for a number that there is not.
const unknown = "-"

// ProgramVariable is the environment variable that names the program missingscore.
const ProgramVariable = "MISSINGSCORE_PROGRAM"

// write writes a table as people have it: levels by their names, missing cells empty.
func write(path string, t *data.Table) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := csv.NewWriter(f)
	if err := w.Write(t.Names); err != nil {
		return err
	}
	for i := range t.N {
		row := make([]string, t.D)
		for j := range row {
			k := i*t.D + j
			switch levels := data.Coded(t, j); {
			case !t.Observed[k]:
			case levels != nil:
				row[j] = levels[int(t.Values[k])]
			default:
				row[j] = strconv.FormatFloat(t.Values[k], 'g', -1, 64)
			}
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// codes is the table with the places of levels as numbers.
func codes(t *data.Table) *data.Table {
	c := *t
	c.Kinds, c.Levels = nil, nil
	return &c
}

// kinds are the kinds of the columns, as the scripts of R take them: a word each.
func kinds(t *data.Table) (words []string) {
	for j := range t.D {
		words = append(words, string(data.KindOf(t, j)))
	}
	return words
}

// hide hides cells. Where a law depends on a column of levels, it depends on their places.
func hide(law gaps.Law, t *data.Table, seed uint64) (*data.Table, error) {
	hidden, err := law.Hide(codes(t), seed)
	if err != nil {
		return nil, err
	}
	hidden.Kinds, hidden.Levels = slices.Clone(t.Kinds), slices.Clone(t.Levels)
	return hidden, nil
}

func seconds(x float64) string { return fmt.Sprintf("%.2f", x) }
