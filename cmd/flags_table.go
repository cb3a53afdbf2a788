package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/internal/stream"
)

// tableFlags say how the table is read.
type tableFlags struct {
	columns, exclude, na []string
	id                   string
	sep, prices          string
	hide                 float64
}

func (f *tableFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.columns, "columns", nil, "columns to use, as a,b,c (default: all)")
	cmd.Flags().StringSliceVar(&f.exclude, "exclude", nil, "columns to leave out, as a,b,c")
	cmd.Flags().StringVar(&f.id, "id", "", "the column that names the rows: it is left out too")
	f.addFormat(cmd)
}

// addFormat is add for commands whose model says which columns they use.
func (f *tableFlags) addFormat(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.na, "na", data.DefaultNA, "marks of a missing cell; an empty cell always is one")
	cmd.Flags().StringVar(&f.sep, "sep", ",", `separator of the cells: one character, or "tab"`)
}

func (f *tableFlags) options() (data.ReadOptions, error) {
	if f.columns != nil && len(f.columns) == 0 {
		return data.ReadOptions{}, usageError{fmt.Errorf("--columns is empty: names as a,b,c are expected")}
	}
	sep := []rune(f.sep)
	if f.sep == "tab" || f.sep == `\t` {
		sep = []rune{'\t'}
	}
	if len(sep) != 1 || strings.ContainsRune("\"\r\n\uFFFD", sep[0]) {
		return data.ReadOptions{}, usageError{fmt.Errorf("--sep %q: one character is expected, not a quote or line end, or tab", f.sep)}
	}
	exclude := f.exclude
	if f.id != "" {
		exclude = append(slices.Clone(exclude), f.id)
	}
	return data.ReadOptions{NA: f.na, Columns: f.columns, Exclude: exclude, Comma: sep[0]}, nil
}

// read gives the table; seed is for --hide.
func (f *tableFlags) read(path string, seed uint64) (*data.Table, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	var t *data.Table
	if f.prices != "" {
		names := strings.Split(f.prices, ",")
		if len(names) != 3 {
			return nil, usageError{fmt.Errorf("--prices %q: three column names are expected, as date,name,price", f.prices)}
		}
		t, err = data.ReadPrices(path, data.PriceColumns{Date: names[0], Name: names[1], Price: names[2]}, o)
	} else {
		t, err = data.ReadCSV(path, o)
	}
	if err != nil || f.hide == 0 {
		return t, err
	}
	if !(f.hide > 0 && f.hide < 1) {
		return nil, usageError{fmt.Errorf("--hide %v: a share of cells from 0 to less than 1 is expected", f.hide)}
	}
	return data.HideMCAR(t, f.hide, stream.New(seed, stream.Hide))
}
