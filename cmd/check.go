package cmd

import (
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/internal/data/diagnose"
	"missingscore/internal/data/mcar"
	"missingscore/trainers"
)

type checkCommand struct {
	table     tableFlags
	support   domainFlags
	law       missingnessFlag
	transform transformFlag
	json      bool

	leftOut  []data.Column
	gaps     []mcar.Column
	findings []diagnose.Finding
}

func newCheckCommand() *cobra.Command {
	var f checkCommand
	cmd := &cobra.Command{
		Use:   "check TABLE.csv",
		Short: "Say what is wrong with a table before it is fitted",
		Long: `Report faults of a table: dependent columns, identifiers, codes for missing cells, skewed
columns. Test for each column with gaps whether its cells are missing completely at random.
Give the flags of the planned fit: they change what is a fault.`,
		Example: `  missingscore check examples/airquality.csv --columns Ozone,Solar.R,Wind,Temp`,
		Args:    exactArgs(1, "one table"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := abandonable(cmd.Context(), func() error { return f.load(cmd, args[0]) }); err != nil {
				return err
			}
			return f.tell(cmd.OutOrStdout())
		},
	}
	f.table.add(cmd)
	f.support.add(cmd)
	f.law.add(cmd)
	f.transform.add(cmd)
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *checkCommand) load(cmd *cobra.Command, file string) error {
	t, err := f.table.read(file, 1)
	if err != nil {
		return err
	}
	f.leftOut = leftOutJSON(t)
	var spec trainers.Spec
	if spec.Transform, err = f.transform.parse(); err != nil {
		return asUsage(cmd, err)
	}
	if spec.Domain, err = f.support.around(t, file); err != nil {
		return err
	}
	if spec.Missingness, err = f.law.read(t, spec.Domain); err != nil {
		return err
	}
	p, err := trainers.Prepare(t, spec)
	if err != nil {
		return asUsage(cmd, inTable(err, file, rowAdvice(err, "correct the row, leave it out, or change the thresholds (--missingness)")))
	}
	if f.findings, err = p.Findings(); err != nil {
		return err
	}
	f.gaps = mcar.TestBy(runtime.GOMAXPROCS(0), t)
	return nil
}

func (f *checkCommand) tell(stdout io.Writer) error {
	if f.json {
		return printJSON(stdout, map[string]any{"findings": f.findings, "left_out": f.leftOut, "missing_at_random": testedColumns(f.gaps)})
	}
	writeFindings(stdout, f.findings)
	if len(f.findings) == 0 {
		fmt.Fprintln(stdout, "no fault found in the table")
	}
	return printGaps(stdout, f.gaps)
}

// printGaps writes one line for each column with gaps: the test of MCAR.
func printGaps(stdout io.Writer, gaps []mcar.Column) error {
	if len(gaps) == 0 {
		return nil
	}
	fmt.Fprintln(stdout, "\nAre cells missing completely at random?")
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "column\tmissing\tp\tcorrected\tmissing more often where\t")
	for _, c := range gaps {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t\n", c.Name, c.Missing, mcar.FormatP(c.P), mcar.FormatP(c.Corrected), where(c))
	}
	return w.Flush()
}

// where names the rows in which a column is missing more often.
func where(c mcar.Column) string {
	if c.Depends() || c.Predictor == "" || c.Corrected >= 1 {
		return c.Where()
	}
	return "unclear; most often where " + c.Where()
}
