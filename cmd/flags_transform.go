package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/data/transform"
)

// transformFlag says which functions of columns the model is of.
type transformFlag struct{ items, ordinal []string }

func (f *transformFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.items, "transform", nil, "functions of columns that are modelled in their place: column=log,… (log, log1p, sqrt, logit, npn: normal scores of ranks, none), or one for all columns that are not named; undone by impute, sample and score")
	cmd.Flags().StringSliceVar(&f.ordinal, "ordinal", nil, "columns of ordered categories (two or more), or all: each is an interval of a latent normal number, and partial correlations are of these; check names columns that look so")
}

// parse gives the functions by name.
func (f *transformFlag) parse() (transform.Spec, error) {
	if f.items != nil && len(f.items) == 0 {
		return transform.Spec{}, usageError{fmt.Errorf("--transform is empty: column=log,… or a function is expected")}
	}
	s, err := transform.Parse(f.items)
	if err != nil || f.ordinal == nil {
		return s, err
	}
	return f.withOrdinal(s)
}

// everyColumn stands for all columns in --ordinal.
const everyColumn = "all"

// withOrdinal adds the columns of --ordinal to the functions.
func (f *transformFlag) withOrdinal(s transform.Spec) (transform.Spec, error) {
	if len(f.ordinal) == 0 {
		return s, usageError{fmt.Errorf("--ordinal is empty: names of columns or all are expected")}
	}
	if len(f.ordinal) == 1 && f.ordinal[0] == everyColumn {
		if s.Others != "" {
			return s, usageError{fmt.Errorf("--ordinal all: --transform %s is for all columns, too; name the columns of one of them", s.Others)}
		}
		s.Others = transform.OrdinalKind
		return s, nil
	}
	if slices.Contains(f.ordinal, everyColumn) {
		return s, usageError{fmt.Errorf("--ordinal %s: all stands for every column, and others are named; leave one of the two out", strings.Join(f.ordinal, ","))}
	}
	if s.Columns == nil {
		s.Columns = map[string]string{}
	}
	for _, name := range f.ordinal {
		if has := s.Columns[name]; has != "" && has != transform.OrdinalKind {
			return s, usageError{fmt.Errorf("--ordinal %s: the column has the function %s (--transform), and categories have none; leave one of the two out", name, has)}
		}
		s.Columns[name] = transform.OrdinalKind
	}
	return s, nil
}

// rowAdvice says what to do about a row that cannot be used: where a cell has no T(x) another
// function may help, else what others needs.
func rowAdvice(err error, others string) string {
	var value *transform.ValueError
	if errors.As(err, &value) {
		return "correct the cell, read it as missing (--na), or choose another function (--transform)"
	}
	return others
}
