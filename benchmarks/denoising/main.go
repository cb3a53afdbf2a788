// Command denoising fits models of noisy rows to an incomplete table by denoising score
// matching, draws rows from them by the reverse-time equation, and compares these with
// rows that were held out: Sachs et al.'s proteins, of which cells are hidden at random.
// A line for each fit goes to results.csv; started again, it does only what is missing,
// then draws pictures and prints the table. The table is looked for in the folder
// MISSINGSCORE_DATA. For one core: GOMAXPROCS=1.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"missingscore/benchmarks/cells"
	"missingscore/graph"
)

func main() {
	log.SetFlags(0)
	var s settings
	flag.StringVar(&s.table, "table", filepath.Join(os.Getenv("MISSINGSCORE_DATA"), "sachs.csv.gz"), "the table")
	columns := flag.String("columns", "raf,mek,plc,pip2,pip3,erk,akt,pka,pkc,p38,jnk", "its columns")
	flag.IntVar(&s.rows, "n", 2000, "rows to fit")
	flag.IntVar(&s.held, "held", 1000, "rows to compare with, and of a second part, the floor")
	flag.Float64Var(&s.missing, "missing", 0.4, "probability that a cell is hidden")
	flag.IntVar(&s.epochs, "epochs", 200, "passes over the rows")
	flag.Float64Var(&s.rate, "rate", 0.003, "Adam's rate for the model")
	flag.IntVar(&s.draws, "draws", 10, "imputations of a row")
	flag.IntVar(&s.steps, "steps", 500, "of the reverse-time equation")
	flag.TextVar(&s.dtype, "dtype", graph.Float32, "of the expression graphs: float32 or float64")
	flag.StringVar(&s.network, "network", `{"hidden":[64,64],"activation":"silu"}`, "options of the networks")
	flag.StringVar(&s.noise, "noise", `{"noise":{"kind":"exploding"}}`, "options of the objective")
	chosen := flag.String("methods", "floor,full,full-score,iw,variw,var,zeroed,missdiff,gaussian", "which of them")
	first := flag.Uint64("first", 1, "first seed")
	seeds := flag.Uint64("seeds", 5, "how many")
	flag.StringVar(&s.out, "out", "benchmarks/denoising", "folder of the results")
	flag.Parse()
	s.columns = strings.Split(*columns, ",")
	if err := os.MkdirAll(filepath.Join(s.out, "rows"), 0o755); err != nil {
		log.Fatal(err)
	}
	if err := s.run(strings.Split(*chosen, ","), *first, *seeds); err != nil {
		log.Fatal(err)
	}
}

var (
	key   = []string{"replicate", "method"}
	value = []string{"effective_size", "seconds", "ks", "worst_ks", "correlation", "pairs", "energy_distance"}
)

func (s settings) run(names []string, first, seeds uint64) error {
	g := cells.Grid{Key: key, Value: value}
	for seed := first; seed < first+seeds; seed++ {
		for _, name := range names {
			m, ok := methods[name]
			if !ok {
				return fmt.Errorf("there is no method %q", name)
			}
			rows := "" // those of the first seed are drawn
			if seed == first {
				rows = s.path(name)
			}
			g.Cells = append(g.Cells, cells.Cell{
				Key: []string{strconv.FormatUint(seed, 10), name},
				Run: func(ctx context.Context) ([]string, error) { return s.cell(ctx, m, seed, rows) },
			})
		}
	}
	results, err := g.InTurn(context.Background(), filepath.Join(s.out, "results.csv"))
	if err != nil {
		return err
	}
	if err := report(names, results); err != nil {
		return err
	}
	return s.picture(first)
}

// path is where a method's rows go.
func (s settings) path(name string) string { return filepath.Join(s.out, "rows", name+".csv") }
