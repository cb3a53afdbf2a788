// Command neural fits neural energies and score networks to densities whose score is
// known, half of the cells hidden, and measures E‖s_θ − s‖² on fresh complete draws
// along training. A line for each fit goes to results.csv; started again, it does only
// what is missing, then draws the pictures and prints the tables. For one core:
// GOMAXPROCS=1.
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
	"missingscore/benchmarks/training"
	"missingscore/graph"
)

func main() {
	log.SetFlags(0)
	var s settings
	flag.IntVar(&s.rows, "n", 2000, "rows of a table")
	flag.Float64Var(&s.missing, "missing", 0.5, "probability that a cell is hidden")
	flag.IntVar(&s.fresh, "fresh", 2000, "fresh draws of the truth")
	flag.IntVar(&s.epochs, "epochs", 100, "passes over the table")
	flag.Float64Var(&s.rate, "rate", 0.003, "Adam's rate for the model")
	flag.IntVar(&s.draws, "draws", 10, "imputations of a row")
	flag.IntVar(&s.batch, "batch", 100, "rows of a batch")
	flag.TextVar(&s.dtype, "dtype", graph.Float32, "of the expression graphs: float32 or float64")
	flag.StringVar(&s.network, "network", `{"hidden":[64,64],"activation":"softplus"}`, "options of the networks")
	densities := flag.String("densities", "moons,ring,modes", "moons, ring, modes")
	chosen := flag.String("methods", "full,iw,variw,var,em,zeroed,missdiff,full-score", "which of them")
	first := flag.Uint64("first", 1, "first seed")
	seeds := flag.Uint64("seeds", 5, "how many")
	flag.StringVar(&s.out, "out", "benchmarks/neural", "folder of the results")
	flag.Parse()
	if err := os.MkdirAll(filepath.Join(s.out, "models"), 0o755); err != nil {
		log.Fatal(err)
	}
	if err := s.run(strings.Split(*densities, ","), strings.Split(*chosen, ","), *first, *seeds); err != nil {
		log.Fatal(err)
	}
}

// key and value are the columns of results.csv. Fisher divergences are those after
// the epochs of training.Epochs.
var (
	key   = []string{"density", "replicate", "method"}
	value = []string{"effective_size", "score_size", "least", "least_epoch", "seconds", "fisher_divergence"}
)

func (s settings) run(densities, names []string, first, seeds uint64) error {
	ctx := context.Background()
	for _, density := range densities {
		g := cells.Grid{Key: key, Value: value}
		for seed := first; seed < first+seeds; seed++ {
			for _, name := range names {
				m, ok := methods[name]
				if !ok {
					return fmt.Errorf("there is no method %q", name)
				}
				g.Cells = append(g.Cells, cells.Cell{
					Key: []string{density, strconv.FormatUint(seed, 10), name},
					Run: func(ctx context.Context) ([]string, error) {
						return s.fit(ctx, density, m, seed, s.model(density, name, seed, first))
					},
				})
			}
		}
		r, err := g.InTurn(ctx, filepath.Join(s.out, "results.csv"))
		if err != nil {
			return err
		}
		if err := s.report(density, names, r); err != nil {
			return err
		}
		if err := s.figures(ctx, density, names, r, first); err != nil {
			return err
		}
	}
	return nil
}

// model is where a fit's model goes: those of the first seed are drawn.
func (s settings) model(density, name string, seed, first uint64) string {
	if seed != first {
		return ""
	}
	return filepath.Join(s.out, "models", density+"-"+name+".json")
}
