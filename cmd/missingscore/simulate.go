package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/data"
	"missingscore/data/network"
	"missingscore/internal/atomicfile"
	"missingscore/internal/stream"
)

func newSimulateCommand() *cobra.Command {
	var n, d, centres int
	var missing float64
	var seed uint64
	var out string
	cmd := &cobra.Command{
		Use:   "simulate normal|star|dense|stars",
		Short: "Draw a table from a known distribution and hide cells of it",
		Long: `Draw a table from one of the paper's distributions and hide cells completely at
random. It writes to --out: complete.csv (nothing hidden), data.csv (cells
hidden), truth.csv (the true precision) and domain.json (no bounds).

  normal  mean 0.5, eigenvalues of the covariance from 0.5 to 1.5, the last
          column made of half the first and noise
  star    P = I + wA, one centre joined to each other column with probability 0.9
  dense   P = I + wA, each pair joined with probability 0.5
  stars   P = I + wA, --centres centres with as many edges as the star expects`,
		Example: `  missingscore simulate star --d 20 --n 1000 --missing 0.5 --seed 1 --out star
  missingscore network star/data.csv --truth star/truth.csv --out star/result`,
		Args: exactArgs(1, "one of normal, star, dense, stars"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case n < 2:
				return usageError{fmt.Errorf("--n %d: at least two rows are needed", n)}
			case d < 2:
				return usageError{fmt.Errorf("--d %d: at least two columns are needed", d)}
			case !(missing >= 0 && missing < 1):
				return usageError{fmt.Errorf("--missing %v: a probability from 0 to less than 1 is expected", missing)}
			}
			rng := stream.New(seed, stream.Simulate)
			var truth data.Gaussian
			var err error
			switch args[0] {
			case "normal":
				truth, err = data.SimulateNormal(d, rng)
			case "star":
				truth, err = data.SimulateStar(d, rng)
			case "dense":
				truth, err = data.SimulateDense(d, rng)
			case "stars":
				truth, err = data.SimulateStars(d, centres, rng)
			default:
				return usageError{fmt.Errorf("there is no simulation %q; they are normal, star, dense, stars", args[0])}
			}
			if err != nil {
				return err
			}
			complete, err := truth.Sample(n, rng)
			if err != nil {
				return err
			}
			hidden, err := data.HideMCAR(complete, missing, stream.New(seed, stream.Hide))
			if err != nil {
				return err
			}
			if err := ensureDir(out); err != nil {
				return err
			}
			at := func(name string) string { return filepath.Join(out, name) }
			if err := data.WriteCSV(at("complete.csv"), complete); err != nil {
				return err
			}
			if err := data.WriteCSV(at("data.csv"), hidden); err != nil {
				return err
			}
			err = atomicfile.Write(at("truth.csv"), func(w io.Writer) error { return network.WritePrecision(w, complete.Names, truth.Precision) })
			if err != nil {
				return err
			}
			err = atomicfile.Write(at("domain.json"), func(w io.Writer) error {
				_, err := io.Copy(w, strings.NewReader("{\"lower\":{},\"upper\":{}}\n"))
				return err
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d rows, %d columns, %d cells hidden (%.1f %%): complete.csv, data.csv, truth.csv, domain.json in %s\nnext: missingscore network %s --truth %s --out %s\n",
				n, d, hidden.Missing(), 100*float64(hidden.Missing())/float64(n*d), out, at("data.csv"), at("truth.csv"), at("result"))
			return err
		},
	}
	fl := cmd.Flags()
	fl.IntVar(&n, "n", 1000, "rows")
	fl.IntVar(&d, "d", 10, "columns")
	fl.Float64Var(&missing, "missing", 0.5, "probability that a cell is hidden")
	fl.IntVar(&centres, "centres", 5, "centres of stars")
	fl.Uint64Var(&seed, "seed", 1, "seed of all random draws")
	fl.StringVar(&out, "out", "simulated", "folder for the tables")
	return cmd
}
