package cmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"missingscore/data/transform"
)

// transformFlag says which functions of columns the model is of.
type transformFlag struct{ items []string }

func (f *transformFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.items, "transform", nil, "functions of columns that are modelled in their place: column=log,… (log, log1p, sqrt, logit, npn: normal scores of ranks, none), or one for all columns that are not named; undone by impute, sample and score")
}

// parse gives the functions by name.
func (f *transformFlag) parse() (transform.Spec, error) {
	if f.items != nil && len(f.items) == 0 {
		return transform.Spec{}, usageError{fmt.Errorf("--transform is empty: column=log,… or a function is expected")}
	}
	return transform.Parse(f.items)
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
