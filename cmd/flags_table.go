package cmd

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/data/moments"
	"missingscore/internal/memory"
	"missingscore/internal/stream"
)

// tableFlags say how the table is read.
type tableFlags struct {
	formatFlags
	columns, exclude []string
	id, prices       string
	weights          string
	hide             float64
}

// formatFlags say how the table's file is written.
type formatFlags struct {
	na       []string
	sep, dec string
	sheet    string
	stderr   func() io.Writer // for progress
}

func (f *tableFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.columns, "columns", nil, "columns to use, as a,b,c; a name with a comma in quotation marks, as in CSV (default: all)")
	cmd.Flags().StringSliceVar(&f.exclude, "exclude", nil, "columns to leave out, as a,b,c")
	cmd.Flags().StringVar(&f.id, "id", "", "the column that names the rows: it is left out too")
	f.addFormat(cmd)
}

// addWeights adds the flag of the column of weights.
func (f *tableFlags) addWeights(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.weights, "weights", "", "the column of the rows' sampling weights, 0 or more, of whatever scale: it is left out too, and every mean over rows is weighted; EBIC and standard errors go by the effective number of rows")
}

// addFormat is add for commands whose model says which columns they use.
func (f *formatFlags) addFormat(cmd *cobra.Command) {
	f.stderr = cmd.ErrOrStderr
	cmd.Flags().StringSliceVar(&f.na, "na", data.DefaultNA, "marks of a missing cell; an empty cell always is one")
	cmd.Flags().StringVar(&f.sep, "sep", "", `separator of the cells: one character, or "tab" (default: found out)`)
	cmd.Flags().StringVar(&f.dec, "dec", "", `decimal mark: . or , (default: found out where the separator is no comma)`)
	cmd.Flags().StringVar(&f.sheet, "sheet", "", "sheet of an Excel workbook, by its name or number (default: the first)")
}

func (f *tableFlags) options() (data.ReadOptions, error) {
	if f.columns != nil && len(f.columns) == 0 {
		return data.ReadOptions{}, usageError{fmt.Errorf("--columns is empty: names as a,b,c are expected")}
	}
	o := data.ReadOptions{NA: f.na, Columns: trimmed(f.columns), Exclude: trimmed(f.exclude), Sheet: f.sheet, Progress: newReading(f.stderr()).observe}
	switch sep := []rune(f.sep); {
	case f.sep == "tab" || f.sep == `\t`:
		o.Comma = '\t'
	case len(sep) == 1 && !strings.ContainsRune("\"\r\n\uFFFD", sep[0]):
		o.Comma = sep[0]
	case f.sep != "":
		return data.ReadOptions{}, usageError{fmt.Errorf("--sep %q: one character is expected, not a quote or line end, or tab", f.sep)}
	}
	switch f.dec {
	case ".", ",":
		o.Decimal = rune(f.dec[0])
	case "":
	default:
		return data.ReadOptions{}, usageError{fmt.Errorf("--dec %q: a point or a comma is expected", f.dec)}
	}
	if f.id != "" {
		o.Exclude = append(o.Exclude, strings.TrimSpace(f.id))
	}
	return o, nil
}

// trimmed are names without the space around them, as a header is read.
func trimmed(names []string) []string {
	names = slices.Clone(names)
	for k, name := range names {
		names[k] = strings.TrimSpace(name)
	}
	return names
}

// tableBytes are what a fit may hold of a cell: its number, that of the standardised column, and
// whether it is observed.
const tableBytes = 17

// matrixBytes are what it may hold of a pair of columns, in either order: moments, and packed
// matrices of the model, of its state and of where it is best.
const matrixBytes = 24

// held is what a fit to some cells of d columns may hold, in bytes.
func held(cells, d int) float64 {
	return tableBytes*float64(cells) + matrixBytes*float64(d)*float64(d)
}

// read gives the table; seed is for --hide.
func (f *tableFlags) read(path string, seed uint64) (*data.Table, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	if err := withRows(path); err != nil {
		return nil, err
	}
	var t *data.Table
	if f.prices != "" && f.weights != "" {
		return nil, usageError{errors.New("--weights: rows of --prices are days, which have no weights; leave one of them out")}
	}
	if f.prices != "" {
		names := strings.Split(f.prices, ",")
		if len(names) != 3 {
			return nil, usageError{fmt.Errorf("--prices %q: three column names are expected, as date,name,price", f.prices)}
		}
		t, err = data.ReadPrices(path, data.PriceColumns{Date: names[0], Name: names[1], Price: names[2]}, o)
	} else if f.weights != "" {
		if t, err = data.ReadWeighted(path, strings.TrimSpace(f.weights), o); isWeightsError(err) {
			err = usageError{fmt.Errorf("--weights: %w", err)}
		}
	} else {
		t, err = data.ReadFile(path, o)
	}
	if err == nil {
		memory.Held(held(len(t.Values), t.D))
	}
	if err != nil || f.hide == 0 {
		return t, err
	}
	if !(f.hide > 0 && f.hide < 1) {
		return nil, usageError{fmt.Errorf("--hide %v: a share of cells from 0 to less than 1 is expected", f.hide)}
	}
	return data.HideMCAR(t, f.hide, stream.New(seed, stream.Hide))
}

// isWeightsError tells whether a column is none of weights.
func isWeightsError(err error) bool {
	var wrong *data.WeightsError
	return errors.As(err, &wrong)
}

// withRows refuses a file of moments, which has no rows.
func withRows(path string) error {
	if !moments.Is(path) {
		return nil
	}
	return fmt.Errorf("%s holds moments of a table, not its cells: network and fit --model gaussian take it, and this needs the table itself", path)
}
