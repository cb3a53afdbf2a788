// Command normal runs the paper's parameter estimation (section "Truncated Gaussian
// Model", appendix "Normal Distribution estimation"): a 10-dimensional normal, its
// first three columns above their 10 % quantiles or untruncated, 1000 rows, each
// cell missing with probability 0.2, Adam 0.01 on batches of 100 from the standard
// normal. After each epoch it measures Fisher divergence (20000 fresh draws of the
// truth), mean and precision error; it prints Markdown tables, mean ± 95 %
// interval over seeds, and draws the curves.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"missingscore/benchmarks"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/internal/stream"
	"missingscore/trainers"
)

// variants are the configurations compared; drawn are those in the pictures.
var variants = []struct {
	name    string
	config  trainers.Config
	support string // the only one it is run on; empty: both
	drawn   bool
}{
	{"full", trainers.Config{Method: "full"}, "", true},
	{"exact", trainers.Config{Method: "exact"}, "", true},
	{"variw", trainers.Config{Method: "variw"}, "", true},
	{"var", trainers.Config{Method: "var"}, "", true},
	{"iw N(0 I)", trainers.Config{Method: "iw", ProposalSD: 1}, "", true},
	{"iw N(0 16 I)", trainers.Config{Method: "iw", ProposalSD: 4}, "", true},
	{"em N(0 16 I)", trainers.Config{Method: "em", ProposalSD: 4}, "", true},
	{"zeroed", trainers.Config{Method: "zeroed"}, "", true},
	{"em N(0 I)", trainers.Config{Method: "em", ProposalSD: 1}, "", false},
	{"em-full N(0 16 I)", trainers.Config{Method: "em-full", ProposalSD: 4}, "", false},
	{"iw N(0 16 I) r = 100", trainers.Config{Method: "iw", ProposalSD: 4, Draws: 100}, "", false},
	{"var one g a row", trainers.Config{Method: "var", Weight: domain.Weight{Scalar: true}}, "truncated", false},
	{"exact one g a row", trainers.Config{Method: "exact", Weight: domain.Weight{Scalar: true}}, "truncated", false},
	{"exact ignoring the truncation", trainers.Config{Method: "exact"}, "truncated", false},
	{"var leave-one-out", trainers.Config{Method: "var", Correction: "loo"}, "untruncated", false},
	{"exact-mc leave-one-out", trainers.Config{Method: "exact-mc", Correction: "loo"}, "untruncated", false},
	{"exact-mc plug-in", trainers.Config{Method: "exact-mc", Correction: "plugin"}, "untruncated", false},
}

const ignoring = "ignoring"

func main() {
	log.SetFlags(0)
	d := flag.Int("d", 10, "columns")
	n := flag.Int("n", 1000, "rows")
	missing := flag.Float64("missing", 0.2, "missing probability")
	epochs := flag.Int("epochs", 200, "passes over the table")
	seeds := flag.Int("seeds", 20, "replicates")
	supports := flag.String("support", "truncated,untruncated", "supports")
	workers := flag.Int("workers", 2, "runs at a time")
	only := flag.String("only", "", "variants to run, separated by commas; all")
	folder := flag.String("out", "benchmarks/normal", "folder of results.csv and the pictures")
	flag.Parse()

	at := benchmarks.Epochs(*epochs)
	var cells []benchmarks.Cell
	for seed := 1; seed <= *seeds; seed++ {
		for _, support := range strings.Split(*supports, ",") {
			for _, v := range variants {
				if !(*only == "" || slices.Contains(strings.Split(*only, ","), v.name)) || v.support != "" && v.support != support {
					continue
				}
				cells = append(cells, benchmarks.Cell{
					Key: []string{support, v.name, strconv.Itoa(seed)},
					Run: func(ctx context.Context) ([]string, error) {
						return run(ctx, v.config, support == "truncated", strings.Contains(v.name, ignoring), *d, *n, *missing, at, uint64(seed))
					},
				})
			}
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	header := []string{"support", "variant", "seed", "effective_size", "diverged", "fisher_divergence", "mean_error", "precision_error"}
	records, err := benchmarks.Run(ctx, filepath.Join(*folder, "results.csv"), header, cells, *workers, func(key []string, err error) { log.Printf("%v: %v", key, err) })
	if err != nil {
		log.Fatal(err)
	}
	for _, support := range strings.Split(*supports, ",") {
		for k, measure := range []string{"Fisher divergence", "mean error", "precision error"} {
			var all, drawn []benchmarks.Series
			for _, v := range variants {
				s, err := benchmarks.Collect(v.name, records, at, 5+k, func(r []string) bool { return r[0] == support && r[1] == v.name })
				if err != nil {
					log.Fatal(err)
				}
				if all = append(all, s); v.drawn {
					drawn = append(drawn, s)
				}
			}
			fmt.Printf("\n%s, %s\n\n", measure, support)
			benchmarks.Markdown(os.Stdout, at, benchmarks.Shown(at, 10, 50), all)
			file := filepath.Join(*folder, support+"-"+strings.ToLower(strings.ReplaceAll(measure, " ", "-")))
			if err := benchmarks.Draw(file, fmt.Sprintf("%s: %s along training", strings.ToUpper(support[:1])+support[1:], measure), measure, at, drawn); err != nil {
				log.Fatal(err)
			}
		}
	}
}

func run(ctx context.Context, c trainers.Config, truncated, ignore bool, d, n int, missing float64, epochs []int, seed uint64) ([]string, error) {
	rng := stream.New(seed, stream.Simulate)
	truth, err := data.SimulateNormal(d, rng)
	if err != nil {
		return nil, err
	}
	var support *domain.Domain
	if truncated {
		if support, err = truth.TruncateBelow(3, 0.1); err != nil {
			return nil, err
		}
	}
	table, err := truth.SampleInside(support, n, rng)
	if err != nil {
		return nil, err
	}
	fresh, err := truth.SampleInside(support, 20000, stream.New(seed, stream.Simulate, 1))
	if err != nil {
		return nil, err
	}
	if c.Method != "full" {
		if table, err = data.HideMCAR(table, missing, stream.New(seed, stream.Hide)); err != nil {
			return nil, err
		}
	}
	star := graph.NewGaussian(d, graph.CholeskyFactor)
	if err := star.SetPrecision(truth.Precision); err != nil {
		return nil, err
	}
	star.SetMean(truth.Mean)
	c.Seed = seed
	if !ignore {
		c.Domain = support
	}
	return benchmarks.Train(ctx, table, graph.NewGaussian(d, graph.CholeskyFactor), trainers.FitConfig{
		Config: c, Truth: &trainers.Truth{Model: star, Sample: fresh.Values},
	}, epochs, "fisher_divergence", "mean_error", "precision_error")
}
