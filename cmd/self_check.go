package cmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"missingscore/graph"
	"missingscore/internal/selfcheck"
)

func newSelfCheckCommand() *cobra.Command {
	var seed uint64
	var json bool
	cmd := &cobra.Command{
		Use:   "self-check",
		Short: "Try on this machine whether the program can be trusted",
		Long: `Try on this machine, in about a minute, a part of what TRUST.md promises: gradients
against differences, optima that are known to 20 digits, estimates of a table that is
written down in other ways (units, origin, order, rows twice, workers, float32), and
ranks of true values among draws, which have to be uniform. Exit code 1 if one fails.`,
		Example: `  missingscore self-check`,
		Args:    exactArgs(0, "no argument but flags"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			library, err := graph.BLAS()
			if err != nil {
				return err
			}
			if !json {
				fmt.Fprintf(cmd.OutOrStdout(), "by %s\n", library)
			}
			var parts []selfcheck.Part
			ok := true
			err = abandonable(cmd.Context(), func() error {
				return selfcheck.Run(cmd.Context(), seed, func(p selfcheck.Part) {
					parts = append(parts, p)
					ok = ok && p.OK()
					if !json {
						fmt.Fprintln(cmd.OutOrStdout(), p.Line())
					}
				})
			})
			if err == nil && json {
				err = printJSON(cmd.OutOrStdout(), map[string]any{"library": library, "ok": ok, "parts": parts})
			}
			if err == nil && !ok {
				err = errors.New("something does not come out here as it should: please report the lines above, with what missingscore --version says")
			}
			return err
		},
	}
	fl := cmd.Flags()
	fl.Uint64Var(&seed, "seed", 1, "seed of all random draws: another one makes other tables")
	fl.BoolVar(&json, "json", false, "print one JSON object on stdout")
	return cmd
}
