// Command quartic runs the paper's experiment "Non-Gaussian Model": coefficients θ of
// log q = Σ θ_ij x_i² x_j² from 1000 rows with half of the cells missing, Adam 0.01 on
// batches of 100 from θ = −½ I; the imputers, with Adam 0.003, make 500 steps before
// the first of θ. After each epoch it measures Fisher divergence (5000 fresh draws of
// the truth) and the Frobenius error of θ; it prints Markdown tables, mean ± 95 %
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
	"sync"

	"missingscore/benchmarks"
	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/mcmc"
	"missingscore/internal/stream"
	"missingscore/trainers"
)

// variants are the configurations compared.
var variants = []struct {
	name   string
	config trainers.Config
}{
	{"full", trainers.Config{Method: "full"}},
	{"variw", trainers.Config{Method: "variw", WarmUp: 500, ImputerRate: 3e-3}},
	{"var", trainers.Config{Method: "var", WarmUp: 500, ImputerRate: 3e-3}},
	{"iw N(0 I)", trainers.Config{Method: "iw", ProposalSD: 1}},
	{"iw N(0 16 I)", trainers.Config{Method: "iw", ProposalSD: 4}},
	{"em N(0 16 I)", trainers.Config{Method: "em", ProposalSD: 4}},
	{"zeroed", trainers.Config{Method: "zeroed"}},
	{"var imputer 0.001", trainers.Config{Method: "var", WarmUp: 500}},
	{"variw imputer 0.001", trainers.Config{Method: "variw", WarmUp: 500}},
	{"var without warm-up", trainers.Config{Method: "var"}},
}

func main() {
	log.SetFlags(0)
	ds := flag.String("d", "5,10,20", "numbers of columns")
	n := flag.Int("n", 1000, "rows")
	missing := flag.Float64("missing", 0.5, "missing probability")
	epochs := flag.Int("epochs", 100, "passes over the table")
	seeds := flag.Int("seeds", 10, "replicates")
	workers := flag.Int("workers", 2, "runs at a time")
	only := flag.String("only", "", "variants to run, separated by commas; all")
	folder := flag.String("out", "benchmarks/quartic", "folder of results.csv and the pictures")
	flag.Parse()

	at := benchmarks.Epochs(*epochs)
	dims := strings.Split(*ds, ",")
	var cells []benchmarks.Cell
	for seed := 1; seed <= *seeds; seed++ {
		for _, dim := range dims {
			d, err := strconv.Atoi(dim)
			if err != nil {
				log.Fatal(err)
			}
			for _, v := range variants {
				if *only == "" || slices.Contains(strings.Split(*only, ","), v.name) {
					cells = append(cells, benchmarks.Cell{
						Key: []string{dim, v.name, strconv.Itoa(seed)},
						Run: func(ctx context.Context) ([]string, error) {
							return run(ctx, v.config, d, *n, *missing, at, uint64(seed))
						},
					})
				}
			}
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	header := []string{"d", "variant", "seed", "rhat", "effective_size", "diverged", "fisher_divergence", "quartic_error"}
	records, err := benchmarks.Run(ctx, filepath.Join(*folder, "results.csv"), header, cells, *workers, func(key []string, err error) { log.Printf("%v: %v", key, err) })
	if err != nil {
		log.Fatal(err)
	}
	for _, dim := range dims {
		for k, measure := range []string{"Fisher divergence", "parameter error"} {
			var all []benchmarks.Series
			for _, v := range variants {
				s, err := benchmarks.Collect(v.name, records, at, 6+k, func(r []string) bool { return r[0] == dim && r[1] == v.name })
				if err != nil {
					log.Fatal(err)
				}
				all = append(all, s)
			}
			fmt.Printf("\n%s, d = %s\n\n", measure, dim)
			benchmarks.Markdown(os.Stdout, at, benchmarks.Shown(at, 10, 25), all)
			file := filepath.Join(*folder, fmt.Sprintf("d%s-%s", dim, strings.ReplaceAll(measure, " ", "-")))
			if err := benchmarks.Draw(strings.ToLower(file), fmt.Sprintf("Quartic model, d = %s, half of the cells missing", dim), measure, at, all[:7]); err != nil {
				log.Fatal(err)
			}
		}
	}
}

// sample is a truth with its draws, the same for all variants of a seed.
type sample struct {
	truth *graph.Quartic
	table *data.Table
	fresh []float64
	rhat  float64
}

var samples = struct {
	sync.Mutex
	made map[[3]int]*sample
}{made: map[[3]int]*sample{}}

// draw makes a seed's sample once.
func draw(ctx context.Context, d, n int, seed uint64) (*sample, error) {
	samples.Lock()
	defer samples.Unlock()
	key := [3]int{d, n, int(seed)}
	if s, ok := samples.made[key]; ok {
		return s, nil
	}
	rng := stream.New(seed, stream.Simulate)
	theta, err := data.SimulateQuartic(d, rng)
	if err != nil {
		return nil, err
	}
	truth := graph.NewQuartic(d)
	if err := truth.SetTheta(theta); err != nil {
		return nil, err
	}
	const fresh = 5000
	start := make([]float64, (n+fresh)*d)
	for i := range start {
		start[i] = 0.5 * rng.NormFloat64()
	}
	r, err := mcmc.HMC(ctx, truth, nil, start, mcmc.Options{}, rng)
	if err != nil {
		return nil, err
	}
	var names []string
	for j := range d {
		names = append(names, fmt.Sprintf("x%d", j+1))
	}
	table, err := data.NewTable(names, r.Last[:n*d], nil)
	if err != nil {
		return nil, err
	}
	s := &sample{truth, table, r.Last[n*d:], r.WorstRHat()}
	samples.made[key] = s
	return s, nil
}

func run(ctx context.Context, c trainers.Config, d, n int, missing float64, epochs []int, seed uint64) ([]string, error) {
	s, err := draw(ctx, d, n, seed)
	if err != nil {
		return nil, err
	}
	table := s.table
	if c.Method != "full" {
		if table, err = data.HideMCAR(table, missing, stream.New(seed, stream.Hide)); err != nil {
			return nil, err
		}
	}
	c.Seed = seed
	record, err := benchmarks.Train(ctx, table, graph.NewQuartic(d), trainers.FitConfig{
		Config: c, Truth: &trainers.Truth{Model: s.truth, Sample: s.fresh},
	}, epochs, "fisher_divergence", "quartic_error")
	return append([]string{fmt.Sprintf("%.4f", s.rhat)}, record...), err
}
