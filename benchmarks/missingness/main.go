// Command missingness shows what cells missing not at random do to an estimate, and what
// knowing how they are missing repairs: normal distributions of one and two columns
// with self-masked cells, and one with censored cells, fitted with the law that hid them,
// without any, and with a wrong one. It writes the error of each quantity in each
// replicate, and prints means with 95 % t-intervals over replicates as a table; then
// how methods that know the law differ on the same tables.
package main

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/claims"
	"missingscore/data"
	"missingscore/data/missingness"
	"missingscore/graph"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers"
)

func main() {
	log.SetFlags(0)
	n := flag.Int("n", 1000, "rows")
	replicates := flag.Int("replicates", 20, "tables of each setting")
	out := flag.String("out", "benchmarks/missingness/results.csv", "file for the errors")
	only := flag.String("only", "", "settings whose name starts so; empty for all")
	methods := flag.String("methods", "iw,var,variw,exact", "methods, as far as a setting has them")
	flag.Parse()
	if err := run(*n, *replicates, *out, *only, strings.Split(*methods, ",")); err != nil {
		log.Fatal(err)
	}
}

// setting is a distribution, what hides its cells, and what fits are told of it.
type setting struct {
	name    string
	truth   data.Gaussian
	by      *missingness.Model
	told    []told
	methods []string
}

type told struct {
	name string
	law  *missingness.Model
}

func settings() ([]setting, error) {
	names := []string{"x1", "x2"}
	var failed error
	law := func(d int, text string) *missingness.Model {
		m, err := missingness.Parse([]byte(text), names[:d])
		if err != nil {
			failed = err
		}
		return m
	}
	one := data.Gaussian{Mean: []float64{0.5}, Precision: mat.NewSymDense(1, []float64{0.8})}
	two := data.Gaussian{Mean: []float64{0.5, -0.3}, Precision: mat.NewSymDense(2, []float64{1.2, 0.5, 0.5, 1})}
	self := law(1, `{"logistic":{"x1":{"intercept":0.5,"slope":{"x1":-1.5}}}}`)
	halfSelf := law(1, `{"logistic":{"x1":{"intercept":0.5,"slope":{"x1":-0.75}}}}`)
	both := law(2, `{"logistic":{"x1":{"intercept":0.8,"slope":{"x1":-1.5,"x2":0.5}},"x2":{"intercept":0.6,"slope":{"x2":1.2}}}}`)
	halfBoth := law(2, `{"logistic":{"x1":{"intercept":0.8,"slope":{"x1":-0.75,"x2":0.25}},"x2":{"intercept":0.6,"slope":{"x2":0.6}}}}`)
	cut := law(2, `{"censored":{"x1":{"above":1},"x2":{"below":-0.8}}}`)
	weighted := []string{"iw", "var", "variw"}
	return []setting{
		{"self-masked, d = 1", one, self, []told{{"the law", self}, {"half its slopes", halfSelf}, {"nothing", nil}}, weighted[:2]}, // weights of a cell alone in its row do not count
		{"self-masked, d = 2", two, both, []told{{"the law", both}, {"half its slopes", halfBoth}, {"nothing", nil}}, weighted},
		{"censored, d = 2", two, cut, []told{{"the thresholds", cut}, {"nothing", nil}}, append(weighted, "exact")},
	}, failed
}

func run(n, replicates int, path, only string, methods []string) error {
	all, err := settings()
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := csv.NewWriter(f)
	if err := w.Write([]string{"setting", "told", "method", "replicate", "missing", "quantity", "truth", "error"}); err != nil {
		return err
	}
	fmt.Println("| setting | told | method | missing | mean of x1 | variance of x1 | P_11 | P_12 | seconds a fit |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	var pairs strings.Builder
	for _, s := range all {
		if !strings.HasPrefix(s.name, only) {
			continue
		}
		fits := []struct {
			told
			method string
		}{{told{"no cell hidden", nil}, "full"}}
		for _, t := range s.told {
			for _, m := range s.methods {
				if !slices.Contains(methods, m) {
					continue
				}
				fits = append(fits, struct {
					told
					method string
				}{t, m})
			}
		}
		byMethod, last := map[string][][]float64{}, ""
		for _, fit := range fits {
			errors, missing, start := make([][]float64, 4), 0.0, time.Now()
			for k := range replicates {
				table, err := s.table(n, uint64(k), fit.method == "full")
				if err != nil {
					return err
				}
				share := float64(table.Missing()) / float64(table.N*table.D)
				missing += share / float64(replicates)
				m, err := estimate(table, fit.law, fit.method, uint64(k))
				if err != nil {
					return fmt.Errorf("%s, %s, %s, replicate %d: %w", s.name, fit.name, fit.method, k, err)
				}
				want, err := quantities(s.truth.Mean, s.truth.Precision)
				if err != nil {
					return err
				}
				got, err := quantities(m.Mean(), m.Precision())
				if err != nil {
					return err
				}
				for q, name := range []string{"mean of x1", "variance of x1", "P_11", "P_12"}[:len(want)] {
					errors[q] = append(errors[q], got[q]-want[q])
					if err := w.Write([]string{s.name, fit.name, fit.method, strconv.Itoa(k), strconv.FormatFloat(share, 'f', 4, 64), name,
						strconv.FormatFloat(want[q], 'g', 6, 64), strconv.FormatFloat(got[q]-want[q], 'g', 6, 64)}); err != nil {
						return err
					}
				}
			}
			fmt.Printf("| %s | %s | %s | %.0f %% |", s.name, fit.name, fit.method, 100*missing)
			for _, e := range errors {
				fmt.Printf(" %s |", interval(e))
			}
			fmt.Printf(" %.2f |\n", time.Since(start).Seconds()/float64(replicates))
			if fit.name == s.told[0].name {
				byMethod[fit.method], last = errors, fit.method
			}
		}
		for _, m := range s.methods {
			if e, ok := byMethod[m]; ok && m != last {
				fmt.Fprintf(&pairs, "| %s | %s − %s |", s.name, m, last)
				for q := range e {
					fmt.Fprintf(&pairs, " %s |", interval(floats.SubTo(make([]float64, len(e[q])), e[q], byMethod[last][q])))
				}
				fmt.Fprintln(&pairs)
			}
		}
	}
	fmt.Printf("\n| setting | methods | mean of x1 | variance of x1 | P_11 | P_12 |\n| --- | --- | --- | --- | --- | --- |\n%s", pairs.String())
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return f.Close()
}

// table is replicate k: the same rows for all fits, with the same gaps.
func (s setting) table(n int, k uint64, complete bool) (*data.Table, error) {
	t, err := s.truth.Sample(n, stream.New(1, stream.Simulate, k))
	if err != nil || complete {
		return t, err
	}
	return missingness.Hide(t, s.by, stream.New(1, stream.Hide, k))
}

// estimate fits as the fit command does, with Adam's rate lowered once and, for var and
// variw, a small imputer: two columns need no more.
func estimate(t *data.Table, law *missingness.Model, method string, seed uint64) (*graph.Gaussian, error) {
	work, scale := data.Standardise(t)
	known := law.Standardised(scale.Mean, scale.Deviation)
	c := trainers.FitConfig{Config: trainers.Config{Method: method, Seed: seed, WarmUp: 500, Imputer: nets.Options{Hidden: 50, DiagonalSD: true, MaskInput: true},
		Domain: known.Support(nil), Missingness: graph.MissingnessOf(known)}}
	m := graph.NewGaussian(t.D, graph.CholeskyFactor)
	for _, rate := range []float64{0.05, 0.005} {
		c.Rate, c.Epochs = rate, 25
		if _, err := trainers.Fit(context.Background(), work, m, losses.ObjectiveFor(c.Domain, c.Weight), c, &trainers.State{}, nil); err != nil {
			return nil, err
		}
	}
	return m, m.Rescale(scale.Mean, scale.Deviation)
}

// quantities are μ_1, Σ_11, P_11 and, of two columns, P_12.
func quantities(mean []float64, p *mat.SymDense) ([]float64, error) {
	var chol mat.Cholesky
	if !chol.Factorize(p) {
		return nil, fmt.Errorf("the precision is not positive definite")
	}
	var sigma mat.SymDense
	if err := chol.InverseTo(&sigma); err != nil {
		return nil, err
	}
	q := []float64{mean[0], sigma.At(0, 0), p.At(0, 0)}
	if len(mean) > 1 {
		q = append(q, p.At(0, 1))
	}
	return q, nil
}

// interval is the mean error with its 95 % t-interval, bold where that leaves 0 out.
func interval(e []float64) string {
	if len(e) < 2 {
		return ""
	}
	mean, half := claims.MeanInterval(e)
	text := fmt.Sprintf("%+.3f ± %.3f", mean, half)
	if math.Abs(mean) > half {
		return "**" + text + "**"
	}
	return text
}
