package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/spelling"
)

// domainFlags say where the data can lie, in the table's units.
type domainFlags struct {
	lower, upper []string
	file         string
	weight       domain.Weight
	perRow       bool
}

func (f *domainFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringSliceVar(&f.lower, "lower", nil, "lower bounds of the support: column=value,… or one value for all columns")
	fl.StringSliceVar(&f.upper, "upper", nil, "upper bounds, likewise")
	fl.StringVar(&f.file, "domain", "", `the support as JSON: {"lower":{"x1":0},"upper":{},"halfspace":{"a":{"x1":1,"x2":-1},"b":0.5}}, aᵀx ≤ b`)
}

// addWeight adds what concerns the truncated objective.
func (f *domainFlags) addWeight(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&f.perRow, "g-per-row", false, "on a domain: one weight g for a row, its least distance to the boundary (the paper's), instead of one for each cell")
	fl.Float64Var(&f.weight.Cap, "g-cap", 1, "on a domain: the distance at which g stops growing, in standard deviations")
	fl.BoolVar(&f.weight.NoTangent, "no-tangent", false, "on a half-space: leave the tangential correction out, as the paper does (biased)")
}

// read gives the domain, nil if there is none, and g.
func (f *domainFlags) read(names []string) (*domain.Domain, domain.Weight, error) {
	w := f.weight
	w.Scalar = f.perRow
	if w.Cap < 0 || w.Cap != w.Cap {
		return nil, w, usageError{fmt.Errorf("--g-cap %v: it must be positive", w.Cap)}
	}
	s := domain.All(len(names))
	if f.file != "" {
		var err error
		if s, err = domain.Read(f.file, names); err != nil {
			return nil, w, fmt.Errorf("--domain: %w", err)
		}
	}
	if err := narrow(s.Lower, "--lower", f.lower, names, func(x, y float64) float64 { return max(x, y) }); err != nil {
		return nil, w, usageError{err}
	}
	if err := narrow(s.Upper, "--upper", f.upper, names, func(x, y float64) float64 { return min(x, y) }); err != nil {
		return nil, w, usageError{err}
	}
	if !s.Bounded() {
		return nil, w, nil
	}
	if err := s.Check(names); err != nil {
		return nil, w, usageError{fmt.Errorf("--lower, --upper, --domain: %w", err)}
	}
	return s, w, nil
}

// narrow makes bounds the better of what they are and what a flag says.
func narrow(bounds []float64, flag string, values, names []string, better func(x, y float64) float64) error {
	if values != nil && len(values) == 0 {
		return fmt.Errorf("%s is empty: column=value or a number is expected", flag)
	}
	for _, text := range values {
		j, v, err := parseBound(text, names)
		if err != nil {
			return fmt.Errorf("%s %s: %w", flag, text, err)
		}
		for k := range names {
			if j < 0 || k == j {
				bounds[k] = better(bounds[k], v)
			}
		}
	}
	return nil
}

// parseBound reads column=value, or a value for all columns: j is −1 then.
func parseBound(text string, names []string) (j int, v float64, err error) {
	name, value, named := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if !named {
		value = text
	}
	v, err = strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || v != v {
		return -1, v, errors.New("column=value or a number is expected")
	}
	if !named {
		return -1, v, nil
	}
	if j = slices.Index(names, name); j < 0 {
		return j, v, fmt.Errorf("there is no column %q%s; columns are %s", name, spelling.DidYouMean(name, names), strings.Join(names, ", "))
	}
	return j, v, nil
}

// around is read for a table, all of whose rows must lie inside.
func (f *domainFlags) around(t *data.Table, file string) (*domain.Domain, domain.Weight, error) {
	s, w, err := f.read(t.Names)
	if err != nil || s == nil {
		return nil, w, err
	}
	return s, w, atLine(t.Inside(s), file, "correct the row, leave it out, or change the domain (--lower, --upper, --domain)")
}

// atLine puts file and line to an error about a row, and what to do.
func atLine(err error, file, advice string) error {
	var row *data.RowError
	if !errors.As(err, &row) {
		return err
	}
	where := fmt.Sprintf("%s: row %d", file, row.Row+1)
	if row.Line > 0 {
		where = fmt.Sprintf("%s:%d", file, row.Line)
	}
	what := fmt.Sprintf("the row lies outside the domain: %v", row.Why)
	if row.Column != "" {
		what = fmt.Sprintf("column %q: %s %v", row.Column, row.Cell, row.Why)
	}
	return fmt.Errorf("%s: %s; %s", where, what, advice)
}
