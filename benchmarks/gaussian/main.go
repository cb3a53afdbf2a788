// Command gaussian measures parameter estimation: the paper's 10-dimensional
// normal (appendix "Normal Distribution estimation", untruncated), 1000 rows, each
// cell missing with probability 0.2, Adam 0.01 on batches of 100 from the standard
// normal. It prints precision error (Frobenius), mean error (L2) and Fisher
// divergence to the truth, mean ± 95 % interval over seeds, as a Markdown table.
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

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks"
	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers"
)

// variants are the configurations compared.
var variants = []struct {
	name   string
	config trainers.Config
}{
	{"full", trainers.Config{Method: "full"}},
	{"exact", trainers.Config{Method: "exact"}},
	{"zeroed", trainers.Config{Method: "zeroed"}},
	{"exact-mc, leave-one-out", trainers.Config{Method: "exact-mc", Correction: "loo"}},
	{"exact-mc, plug-in", trainers.Config{Method: "exact-mc", Correction: "plugin"}},
	{"iw, N(0, I)", trainers.Config{Method: "iw", ProposalSD: 1}},
	{"iw, N(0, 16 I)", trainers.Config{Method: "iw", ProposalSD: 4}},
	{"em, N(0, 16 I)", trainers.Config{Method: "em", ProposalSD: 4}},
	{"em-full, N(0, 16 I)", trainers.Config{Method: "em-full", ProposalSD: 4}},
	{"var, plug-in", trainers.Config{Method: "var", Correction: "plugin"}},
	{"var, leave-one-out", trainers.Config{Method: "var", Correction: "loo"}},
	{"variw", trainers.Config{Method: "variw"}},
}

func main() {
	log.SetFlags(0)
	d := flag.Int("d", 10, "columns")
	n := flag.Int("n", 1000, "rows")
	missing := flag.Float64("missing", 0.2, "missing probability")
	epochs := flag.Int("epochs", 200, "passes over the table")
	seeds := flag.Int("seeds", 5, "replicates")
	workers := flag.Int("workers", 2, "runs at a time")
	only := flag.String("only", "", "variants whose names start with one of these (comma-separated); all")
	out := flag.String("out", "benchmarks/gaussian/results.csv", "results, appended to")
	flag.Parse()

	var cells []benchmarks.Cell
	for _, v := range variants {
		if !chosen(v.name, *only) {
			continue
		}
		for seed := 1; seed <= *seeds; seed++ {
			cells = append(cells, benchmarks.Cell{
				Key: []string{strings.ReplaceAll(v.name, ",", ""), strconv.Itoa(seed)},
				Run: func(ctx context.Context) ([]string, error) {
					return run(ctx, v.config, *d, *n, *missing, *epochs, uint64(seed))
				},
			})
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	header := []string{"variant", "seed", "precision_error", "mean_error", "fisher_divergence", "effective_size"}
	records, err := benchmarks.Run(ctx, *out, header, cells, *workers, func(key []string, err error) { log.Printf("%v: %v", key, err) })
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("| variant | precision error | mean error | Fisher divergence |\n| --- | --- | --- | --- |")
	for _, v := range variants {
		var columns [3][]float64
		for _, r := range records {
			if r[0] == strings.ReplaceAll(v.name, ",", "") {
				for k := range columns {
					x, err := strconv.ParseFloat(r[2+k], 64)
					if err != nil {
						log.Fatal(err)
					}
					columns[k] = append(columns[k], x)
				}
			}
		}
		if len(columns[0]) < 2 {
			continue
		}
		fmt.Printf("| %s |", v.name)
		for _, x := range columns {
			mean, half := benchmarks.MeanInterval(x)
			fmt.Printf(" %.3f ± %.3f |", mean, half)
		}
		fmt.Println()
	}
}

func chosen(name, only string) bool {
	for _, prefix := range strings.Split(only, ",") {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func run(ctx context.Context, c trainers.Config, d, n int, missing float64, epochs int, seed uint64) ([]string, error) {
	rng := stream.New(seed, stream.Simulate)
	truth, err := data.SimulateNormal(d, rng)
	if err != nil {
		return nil, err
	}
	table, err := truth.Sample(n, rng)
	if err != nil {
		return nil, err
	}
	if c.Method != "full" {
		if table, err = data.HideMCAR(table, missing, stream.New(seed, stream.Hide)); err != nil {
			return nil, err
		}
	}
	c.Seed = seed
	m := graph.NewGaussian(d, graph.CholeskyFactor)
	r, err := trainers.Fit(ctx, table, m, losses.Classical{}, trainers.FitConfig{Config: c, Epochs: epochs}, &trainers.State{}, nil)
	if err != nil {
		return nil, err
	}
	p, mu := m.Precision(), m.Mean()
	var gap mat.SymDense
	gap.ScaleSym(-1, truth.Precision)
	gap.AddSym(&gap, p)
	shift := floats.SubTo(make([]float64, d), mu, truth.Mean)
	return []string{
		fmt.Sprintf("%.6f", mat.Norm(&gap, 2)), fmt.Sprintf("%.6f", floats.Norm(shift, 2)),
		fmt.Sprintf("%.6f", fisher(p, &gap, shift, truth.Precision)),
		fmt.Sprintf("%.3f", r.History[len(r.History)-1].EffectiveSize),
	}, nil
}

// fisher is E‖s_θ(x) − s(x)‖² over the truth, tr((P−P*)Σ*(P−P*)) + ‖P(μ−μ*)‖².
func fisher(p, gap *mat.SymDense, shift []float64, truth *mat.SymDense) float64 {
	var chol mat.Cholesky
	if !chol.Factorize(truth) {
		log.Fatal("the true precision is not positive definite")
	}
	var x, prod mat.Dense
	if err := chol.SolveTo(&x, gap); err != nil {
		log.Fatal(err)
	}
	prod.Mul(gap, &x)
	var ps mat.VecDense
	ps.MulVec(p, mat.NewVecDense(len(shift), shift))
	return mat.Trace(&prod) + mat.Dot(&ps, &ps)
}
