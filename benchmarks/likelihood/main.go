// Command likelihood compares Marg-Exact with penalised likelihood (EM around R's
// glasso, emglasso.R) on the same tables: star networks with hidden cells. It prints
// the seconds of a path and the AUC for each seed. Without R or its package glasso it
// says so and measures Marg-Exact alone. For one core: GOMAXPROCS=1.
package main

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"missingscore/data"
	"missingscore/data/network"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers"
)

func main() {
	log.SetFlags(0)
	settings := flag.String("settings", "50:0.7,20:0.5", "columns:missing probability, as a list")
	n := flag.Int("n", 1000, "rows")
	seeds := flag.Int("seeds", 3, "replicates")
	points := flag.Int("points", 30, "λ on a path")
	ratio := flag.Float64("ratio", 0.05, "smallest λ over the largest")
	repeats := flag.Int("repeats", 3, "runs of Marg-Exact, of which the fastest is shown")
	schedule := flag.String("schedule", "accelerated", "of Marg-Exact: accelerated or fixed")
	standstill := flag.Float64("standstill", 0, "of the accelerated schedule; 0 is its default")
	rival := flag.String("rival", "benchmarks/likelihood/emglasso.R", "the R script; empty for none")
	flag.Parse()
	if *rival != "" {
		if out, err := exec.Command("Rscript", "-e", "library(glasso)").CombinedOutput(); err != nil {
			log.Printf("R with its package glasso is not to be had, so no rival: %v %s", err, out)
			*rival = ""
		}
	}
	fmt.Print("| d | missing | seed | Marg-Exact: seconds | AUC | iterations | last edges | EM and glasso: seconds | AUC | EM steps | last edges |\n|", strings.Repeat(" --- |", 11), "\n")
	for _, s := range strings.Split(*settings, ",") {
		var d int
		var missing float64
		if _, err := fmt.Sscanf(strings.Replace(s, ":", " ", 1), "%d %g", &d, &missing); err != nil {
			log.Fatalf("-settings %q: %v", s, err)
		}
		for seed := uint64(1); seed <= uint64(*seeds); seed++ {
			truth, table, err := simulate(d, *n, missing, seed)
			if err != nil {
				log.Fatal(err)
			}
			best := result{seconds: math.Inf(1)}
			for range *repeats {
				r, err := exact(table, truth, *schedule, *standstill, *points, *ratio)
				if err != nil {
					log.Fatal(err)
				}
				if r.seconds < best.seconds {
					best = r
				}
			}
			other := "– | – | – | –"
			if *rival != "" {
				r, err := likelihood(*rival, table, truth, *points, *ratio)
				if err != nil {
					log.Fatal(err)
				}
				other = r.String()
			}
			fmt.Printf("| %d | %g | %d | %v | %s |\n", d, missing, seed, best, other)
		}
	}
}

// result is one path.
type result struct {
	seconds, auc      float64
	iterations, edges int
}

func (r result) String() string {
	return fmt.Sprintf("%.2f | %.4f | %d | %d", r.seconds, r.auc, r.iterations, r.edges)
}

// simulate is the star benchmark's table.
func simulate(d, n int, missing float64, seed uint64) (data.Gaussian, *data.Table, error) {
	rng := stream.New(seed, stream.Simulate)
	truth, err := data.SimulateStar(d, rng)
	if err != nil {
		return truth, nil, err
	}
	table, err := truth.Sample(n, rng)
	if err != nil {
		return truth, nil, err
	}
	table, err = data.HideMCAR(table, missing, stream.New(seed, stream.Hide))
	return truth, table, err
}

func exact(table *data.Table, truth data.Gaussian, schedule string, standstill float64, points int, ratio float64) (result, error) {
	standard, _ := data.Standardise(table)
	top := trainers.LambdaMax(standard, nil, trainers.Config{}.Weight)
	start := time.Now()
	fit, err := trainers.EstimateNetwork(context.Background(), table, trainers.NetworkConfig{
		PathConfig: trainers.PathConfig{Config: trainers.Config{Method: "exact"}, Schedule: schedule, Standstill: standstill, Lambdas: points, LambdaMax: top, LambdaMin: ratio * top},
		Select:     trainers.Selection{Kind: "none"}, Tolerance: 1e9, // the path alone
	}, &trainers.State{}, nil)
	if err != nil {
		return result{}, err
	}
	r := result{seconds: time.Since(start).Seconds(), edges: fit.Points[len(fit.Points)-1].Edges}
	for _, p := range fit.Points {
		r.iterations += p.Iterations
	}
	rates, err := fit.Rates(network.Threshold(truth.Precision, 1e-12))
	if err != nil {
		return r, err
	}
	r.auc = network.AUC(rates)
	return r, nil
}

// likelihood runs the R script, whose precisions are judged as ours are.
func likelihood(script string, table *data.Table, truth data.Gaussian, points int, ratio float64) (r result, err error) {
	dir, err := os.MkdirTemp("", "likelihood")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	from, to := filepath.Join(dir, "table.csv"), filepath.Join(dir, "path.csv")
	if err := data.WriteCSV(from, table); err != nil {
		return r, err
	}
	command := exec.Command("Rscript", script, from, strconv.Itoa(points), strconv.FormatFloat(ratio, 'g', -1, 64), to)
	command.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return r, fmt.Errorf("%s: %w", script, err)
	}
	if _, err := fmt.Sscan(string(out), &r.seconds, &r.iterations); err != nil {
		return r, fmt.Errorf("%s wrote %q: %w", script, out, err)
	}
	g, err := os.Open(to)
	if err != nil {
		return r, err
	}
	defer g.Close()
	lines, err := csv.NewReader(g).ReadAll()
	if err != nil {
		return r, err
	}
	d := table.D
	var rates []network.Rate
	for _, line := range lines {
		m := model.NewGaussian(d, model.FreeSymmetric)
		if len(line) != len(m.Packed.Value) {
			return r, fmt.Errorf("%s wrote %d numbers a line, not %d", script, len(line), len(m.Packed.Value))
		}
		for i, cell := range line {
			if m.Packed.Value[i], err = strconv.ParseFloat(cell, 64); err != nil {
				return r, err
			}
		}
		found := network.Threshold(m.Precision(), 0.002)
		r.edges = found.Count()
		rate, err := network.Compare(network.Threshold(truth.Precision, 1e-12), found)
		if err != nil {
			return r, err
		}
		rates = append(rates, rate)
	}
	r.auc = network.AUC(rates)
	return r, nil
}
