// Package mixed compares networks and imputations of mixed tables (numbers, binary, ordered and nominal
// columns) with R packages, and runs each command with its defaults on real tables.
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

// unknown stands for a missing number in the results.
const unknown = "-"

// ProgramVariable is the environment variable with the path of missingscore.
const ProgramVariable = "MISSINGSCORE_PROGRAM"

// write writes a CSV file with the names of levels and empty missing cells.
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

// codes returns the table with levels as the numbers 0, 1, …
func codes(t *data.Table) *data.Table {
	c := *t
	c.Kinds, c.Levels = nil, nil
	return &c
}

// kinds returns the kind of each column, as the R scripts take them.
func kinds(t *data.Table) (words []string) {
	for j := range t.D {
		words = append(words, string(data.KindOf(t, j)))
	}
	return words
}

// hide hides cells. Levels count as the numbers 0, 1, … in the law.
func hide(law gaps.Law, t *data.Table, seed uint64) (*data.Table, error) {
	hidden, err := law.Hide(codes(t), seed)
	if err != nil {
		return nil, err
	}
	hidden.Kinds, hidden.Levels = slices.Clone(t.Kinds), slices.Clone(t.Levels)
	return hidden, nil
}

func seconds(x float64) string { return fmt.Sprintf("%.2f", x) }
