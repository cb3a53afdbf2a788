package cmd

import (
	"errors"

	"github.com/spf13/cobra"

	"missingscore/trainers/penalty"
)

// parsePenalty reads --penalty and --lambda.
func (f *fitCommand) parsePenalty(cmd *cobra.Command) error {
	c := &f.spec.Descent.Penalty
	*c = penalty.Config{}
	if f.penalty != penalty.None {
		if _, err := penalty.ByName(f.penalty); err != nil {
			return err
		}
		c.Kind = f.penalty
		return c.ParseLambda(f.lambda)
	}
	if cmd.Flags().Changed("lambda") {
		return usageError{errors.New("--lambda is of a penalty, and there is none: name one (--penalty), or leave it out")}
	}
	return nil
}
