// Command star measures edge recovery: AUC of the L1 path for simulated star
// networks (paper, "Star Shaped Graphical Model", without the truncation), and
// prints mean ± 95 % interval over seeds for each method as a Markdown table.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"missingscore/benchmarks"
	"missingscore/data"
	"missingscore/data/network"
	"missingscore/internal/stream"
	"missingscore/trainers"
)

func main() {
	log.SetFlags(0)
	ds := flag.String("d", "20,50", "numbers of columns")
	missing := flag.String("missing", "0.5,0.7", "missing probabilities")
	methods := flag.String("methods", "full,exact,zeroed,var,iw,em,variw,exact-mc,em-full", "methods")
	n := flag.Int("n", 1000, "rows")
	seeds := flag.Int("seeds", 5, "replicates")
	workers := flag.Int("workers", 2, "runs at a time")
	out := flag.String("out", "benchmarks/star/results.csv", "results, appended to")
	flag.Parse()

	var cells []benchmarks.Cell
	var settings [][2]string
	for _, d := range strings.Split(*ds, ",") {
		for _, p := range strings.Split(*missing, ",") {
			settings = append(settings, [2]string{d, p})
			for _, m := range strings.Split(*methods, ",") {
				for seed := 1; seed <= *seeds; seed++ {
					cells = append(cells, benchmarks.Cell{
						Key: []string{d, p, m, strconv.Itoa(seed)},
						Run: func(ctx context.Context) ([]string, error) { return run(ctx, d, p, m, *n, uint64(seed)) },
					})
				}
			}
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	header := []string{"d", "missing", "method", "seed", "auc", "first_edges", "last_edges", "lifts", "effective_size", "seconds"}
	records, err := benchmarks.Run(ctx, *out, header, cells, *workers, func(key []string, err error) { log.Printf("%v: %v", key, err) })
	if err != nil {
		log.Fatal(err)
	}
	table(settings, strings.Split(*methods, ","), records)
}

func run(ctx context.Context, ds, ps, method string, n int, seed uint64) ([]string, error) {
	d, err := strconv.Atoi(ds)
	if err != nil {
		return nil, err
	}
	p, err := strconv.ParseFloat(ps, 64)
	if err != nil {
		return nil, err
	}
	rng := stream.New(seed, stream.Simulate)
	truth, err := data.SimulateStar(d, rng)
	if err != nil {
		return nil, err
	}
	table, err := truth.Sample(n, rng)
	if err != nil {
		return nil, err
	}
	if method != "full" {
		if table, err = data.HideMCAR(table, p, stream.New(seed, stream.Hide)); err != nil {
			return nil, err
		}
	}
	start := time.Now()
	r, err := trainers.EstimateNetwork(ctx, table, trainers.NetworkConfig{
		PathConfig: trainers.PathConfig{Config: trainers.Config{Method: method, Seed: seed}},
		Select:     trainers.Selection{Kind: "none"}, Tolerance: 1e9, // the AUC is of the path: no refinement
	}, &trainers.State{}, nil)
	if err != nil {
		return nil, err
	}
	seconds := time.Since(start).Seconds()
	rates, err := r.Rates(network.Threshold(truth.Precision, 1e-12))
	if err != nil {
		return nil, err
	}
	lifts := 0
	for _, q := range r.Points {
		lifts += q.Lifts
	}
	first, last := r.Points[0], r.Points[len(r.Points)-1]
	return []string{fmt.Sprintf("%.6f", network.AUC(rates)), strconv.Itoa(first.Edges), strconv.Itoa(last.Edges), strconv.Itoa(lifts),
		fmt.Sprintf("%.2f", r.Points[len(r.Points)/2].EffectiveSize), fmt.Sprintf("%.1f", seconds)}, nil
}

func table(settings [][2]string, methods []string, records [][]string) {
	fmt.Print("| method |")
	for _, s := range settings {
		fmt.Printf(" d = %s, missing %s |", s[0], s[1])
	}
	fmt.Print("\n| --- |", strings.Repeat(" --- |", len(settings)), "\n")
	for _, m := range methods {
		e, err := trainers.EstimatorByName(m)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("| %s (`%s`) |", e.Title, m)
		for _, s := range settings {
			var auc []float64
			for _, r := range records {
				if r[0] == s[0] && r[1] == s[1] && r[2] == m {
					v, err := strconv.ParseFloat(r[4], 64)
					if err != nil {
						log.Fatal(err)
					}
					auc = append(auc, v)
				}
			}
			if len(auc) < 2 {
				fmt.Print(" – |")
				continue
			}
			mean, half := benchmarks.MeanInterval(auc)
			fmt.Printf(" %.3f ± %.3f |", mean, half)
		}
		fmt.Println()
	}
}
