package cmd

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers/evaluate"
)

func newCheckCommand() *cobra.Command {
	var table tableFlags
	var support domainFlags
	var law missingnessFlag
	var kind, options string
	var rows int
	var seed uint64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check TABLE.csv",
		Short: "Check every gradient of a model on a table against differences",
		Long: `Compare every gradient that a fit would use with central differences, on the
first rows of a table (standardised) and at parameters away from their start:
the model's score, its diagonal and Hessian products, the pseudo-loss, the direct
Marg-IW loss, the closed form for Gaussians, and what trains the imputer. With
--lower, --upper or --domain: on that support; with --missingness: of the model with
what is known of its gaps. Exit code 1 if one fails.`,
		Example: `  missingscore check examples/airquality.csv --columns Ozone,Solar.R,Wind,Temp --model gaussian`,
		Args:    exactArgs(1, "one table"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := table.read(args[0], seed)
			if err != nil {
				return err
			}
			m, err := model.New(kind, t.D, []byte(options), stream.New(seed, stream.Initial, 1))
			if err != nil {
				return usageError{fmt.Errorf("--model: %w", err)}
			}
			if rows < 1 {
				return usageError{fmt.Errorf("--rows %d: at least one is needed", rows)}
			}
			s, _, err := support.around(t, args[0])
			if err != nil {
				return err
			}
			known, err := law.read(t, s)
			if err != nil {
				return err
			}
			s = known.Support(s)
			if err := atLine(t.Inside(s), args[0], "correct the row, leave it out, or change the thresholds (--missingness)"); err != nil {
				return err
			}
			standard, scale := data.Standardise(t)
			var results []evaluate.Check
			if err := abandonable(cmd.Context(), func() (err error) {
				results, err = evaluate.Gradients(standard, joint(m, known.Standardised(scale.Mean, scale.Deviation)), s.Standardised(scale.Mean, scale.Deviation), rows, seed)
				return err
			}); err != nil {
				return err
			}
			ok := true
			for _, r := range results {
				ok = ok && r.OK
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), map[string]any{"model": kind, "ok": ok, "checks": results})
			} else {
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "check\tcompared\tlargest error\twhere\ttolerance\t")
				for _, r := range results {
					verdict := "ok"
					if !r.OK {
						verdict = "FAILED"
					}
					fmt.Fprintf(w, "%s\t%d\t%.1e\t%s\t%.0e\t%s\n", r.Name, r.Compared, r.Error, r.Where, r.Tolerance, verdict)
				}
				err = w.Flush()
			}
			if err == nil && !ok {
				err = errors.New("a gradient does not agree with differences")
			}
			return err
		},
	}
	table.add(cmd)
	support.add(cmd)
	law.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&kind, "model", "gaussian", strings.Join(slices.Sorted(maps.Keys(model.Models)), ", ")+"; gaussian has P = LLᵀ, gaussian-network a free symmetric P, gaussian-natural the same with η = Pμ")
	fl.StringVar(&options, "model-options", "", "options of the model as JSON, as for fit")
	fl.IntVar(&rows, "rows", 20, "how many rows of the table are used")
	fl.Uint64Var(&seed, "seed", 1, "seed of all random draws")
	fl.BoolVar(&asJSON, "json", false, "print one JSON object on stdout")
	return cmd
}
