// Command star measures edge recovery: AUC of the L1 path for simulated star
// networks (paper, "Star Shaped Truncated Graphical Model"), truncated or not, and
// prints mean ± 95 % interval over seeds for each method as Markdown tables.
//
// Supports: all of R^d ("all"); a random half-space with this share of the
// distribution outside ("half=0.2", the paper's); the first fifth of the columns above
// their median ("box"). Treatments: "honoured" (g and the tangential correction),
// "paper" (one g a row, no correction), "ignored" (as if the support were all of R^d).
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"missingscore/benchmarks"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/network"
	"missingscore/internal/stream"
	"missingscore/trainers"
)

func main() {
	log.SetFlags(0)
	ds := flag.String("d", "20,50", "numbers of columns")
	missing := flag.String("missing", "0.5,0.7", "missing probabilities")
	methods := flag.String("methods", "full,exact,variw,iw,em,zeroed,var,exact-mc,em-full", "methods")
	supports := flag.String("support", "all", "supports: all, half=SHARE, box")
	treatments := flag.String("treatment", "honoured,ignored,paper", "treatments of a truncated support")
	n := flag.Int("n", 1000, "rows")
	seeds := flag.Int("seeds", 5, "replicates")
	workers := flag.Int("workers", 2, "runs at a time")
	out := flag.String("out", "benchmarks/star/results.csv", "results, appended to")
	flag.Parse()

	var cells []benchmarks.Cell
	var settings []setting
	for _, support := range strings.Split(*supports, ",") {
		for _, d := range strings.Split(*ds, ",") {
			for _, p := range strings.Split(*missing, ",") {
				treated := strings.Split(*treatments, ",")
				if support == "all" {
					treated = []string{"-"}
				}
				for _, treatment := range treated {
					settings = append(settings, setting{support, treatment, d, p})
				}
			}
		}
	}
	for seed := 1; seed <= *seeds; seed++ {
		for _, s := range settings {
			for _, m := range strings.Split(*methods, ",") {
				cells = append(cells, benchmarks.Cell{
					Key: []string{s.support, s.treatment, s.d, s.missing, m, strconv.Itoa(seed)},
					Run: func(ctx context.Context) ([]string, error) { return s.run(ctx, m, *n, uint64(seed)) },
				})
			}
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	header := []string{"support", "treatment", "d", "missing", "method", "seed", "auc", "first_edges", "last_edges", "lifts", "effective_size", "seconds"}
	records, err := benchmarks.Run(ctx, *out, header, cells, *workers, func(key []string, err error) { log.Printf("%v: %v", key, err) })
	if err != nil {
		log.Fatal(err)
	}
	table(settings, strings.Split(*methods, ","), records)
}

// setting is a column of the tables.
type setting struct{ support, treatment, d, missing string }

// domain is the support of a truth.
func (s setting) domain(truth data.Gaussian, seed uint64) (*domain.Domain, error) {
	kind, value, _ := strings.Cut(s.support, "=")
	switch kind {
	case "all":
		return nil, nil
	case "box":
		return truth.TruncateBelow(len(truth.Mean)/5, 0.5)
	case "half":
		share, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, err
		}
		return truth.TruncateAcross(share, stream.New(seed, stream.Simulate, 1))
	}
	return nil, fmt.Errorf("there is no support %q", s.support)
}

func (s setting) run(ctx context.Context, method string, n int, seed uint64) ([]string, error) {
	d, err := strconv.Atoi(s.d)
	if err != nil {
		return nil, err
	}
	p, err := strconv.ParseFloat(s.missing, 64)
	if err != nil {
		return nil, err
	}
	rng := stream.New(seed, stream.Simulate)
	truth, err := data.SimulateStar(d, rng)
	if err != nil {
		return nil, err
	}
	support, err := s.domain(truth, seed)
	if err != nil {
		return nil, err
	}
	table, err := truth.SampleInside(support, n, rng)
	if err != nil {
		return nil, err
	}
	if method != "full" {
		if table, err = data.HideMCAR(table, p, stream.New(seed, stream.Hide)); err != nil {
			return nil, err
		}
	}
	c := trainers.Config{Method: method, Seed: seed}
	if s.treatment != "ignored" {
		c.Domain = support
	}
	if s.treatment == "paper" {
		c.Weight = domain.Weight{Scalar: true, NoTangent: true}
	}
	start := time.Now()
	r, err := trainers.EstimateNetwork(ctx, table, trainers.NetworkConfig{
		PathConfig: trainers.PathConfig{Config: c, Schedule: "fixed"}, // the paper's, for all alike
		Select:     trainers.Selection{Kind: "none"}, Tolerance: 1e9,  // the AUC is of the path: no refinement
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

func table(settings []setting, methods []string, records [][]string) {
	fmt.Print("| method |")
	for _, s := range settings {
		if s.treatment == "-" {
			fmt.Printf(" d = %s, missing %s |", s.d, s.missing)
		} else {
			fmt.Printf(" %s, d = %s, missing %s, %s |", s.support, s.d, s.missing, s.treatment)
		}
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
				if slices.Equal(r[:5], []string{s.support, s.treatment, s.d, s.missing, m}) {
					v, err := strconv.ParseFloat(r[6], 64)
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
