package speed

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/floats"

	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/optim"
	"missingscore/internal/trainers/regpath"
	"missingscore/losses"
	"missingscore/trainers/estimator"
)

var Experiments = []string{"normal", "quartic", "star"}

type Setting struct {
	Experiment string      `json:"experiment"`
	Method     string      `json:"method"`
	D          int         `json:"d"`
	N          int         `json:"n"`     // rows of a parameter step
	Batch      int         `json:"batch"` // rows of an imputer step, and of a chunk of a parameter step
	Draws      int         `json:"r"`
	DType      graph.DType `json:"dtype"`
	Seed       uint64      `json:"seed"`
}

// Table simulates N normal rows, for the quartic model too; cells are missing unless the method
// needs complete rows.
func (s Setting) Table() (*data.Table, error) {
	rng := stream.New(s.Seed, stream.Simulate)
	draw, missing := simulate.Star, 0.5
	if s.Experiment == "normal" {
		draw, missing = simulate.Normal, 0.2
	}
	truth, err := draw(s.D, rng)
	if err != nil {
		return nil, err
	}
	e, err := estimator.ByName(s.Method)
	if err != nil {
		return nil, err
	}
	t, err := truth.Sample(s.N, rng)
	if err != nil || e.NeedsCompleteRows() {
		return t, err
	}
	return data.HideMCAR(t, missing, rng)
}

// Stepper makes one parameter iteration with one worker.
func (s Setting) Stepper() (step func() error, err error) {
	t, err := s.Table()
	if err != nil {
		return nil, err
	}
	p := engine.Problem{Table: t, Objective: losses.Classical}
	c := engine.Config{Method: s.Method, Batch: s.Batch, Draws: s.Draws, DType: s.DType, Seed: s.Seed}
	switch s.Experiment {
	case "normal":
		p.Model = model.NewGaussian(t.D, model.CholeskyFactor)
	case "quartic":
		p.Model = model.NewQuartic(t.D)
	case "star":
		return proximal(p, c)
	default:
		return nil, fmt.Errorf("there is no experiment %q; choose from %s", s.Experiment, strings.Join(Experiments, ", "))
	}
	return byAdam(p, c)
}

func byAdam(p engine.Problem, c engine.Config) (step func() error, err error) {
	e, err := engine.New(p, c)
	if err != nil {
		return nil, err
	}
	params, rows, adam, iteration := e.Model.Params(), e.Table.AllRows(), optim.Adam{Rate: 0.01}, 0
	return func() error {
		s, err := e.Step(context.Background(), iteration, e.Whole, rows, 1/float64(len(rows)))
		if err != nil {
			return err
		}
		iteration++
		adam.Step(params, s.Grads)
		return nil
	}, nil
}

// proximal makes steps at the λ in the middle of a path.
func proximal(p engine.Problem, c engine.Config) (step func() error, err error) {
	r, err := regpath.New(p, c, regpath.Config{Schedule: regpath.Fixed}, &regpath.State{})
	if err != nil {
		return nil, err
	}
	m, rows, d, iteration := r.Model(), slices.Concat(p.Table.Patterns(p.Table.AllRows())...), p.Table.D, 0
	r.Condense(rows)
	rate, inside := r.Config.Rate*float64(d), optim.PositiveDefinite{Floor: r.Config.Floor}
	by := optim.Proximal{Rate: rate, Lambda: harness.LambdaMax(p.Table) * math.Pow(200, -0.5)}
	return func() error {
		s, err := r.Step(context.Background(), iteration, r.Whole, rows, 1/float64(len(rows)*d))
		if err != nil {
			return err
		}
		iteration++
		by.Step(m.Packed.Value, s.Grads[1], d)
		if !m.Location.Fixed {
			floats.AddScaled(m.Location.Value, -rate, s.Grads[0])
		}
		inside.Project(m)
		return nil
	}, nil
}

// Time repeats step for some seconds, at least least times, and returns the seconds of a step.
func Time(ctx context.Context, step func() error, least int, seconds float64) (float64, error) {
	start, n := time.Now(), 0
	for ; n < least || time.Since(start).Seconds() < seconds; n++ {
		if err := cmp.Or(ctx.Err(), step()); err != nil {
			return 0, err
		}
	}
	return time.Since(start).Seconds() / float64(n), nil
}

type benchmark struct {
	setting Setting
	methods []string
	seconds float64
	json    bool
}

const warmUp, leastTimed = 3, 5 // iterations

func BenchCommand() *cobra.Command {
	var f benchmark
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Time parameter iterations of this program",
		Long: `Time one parameter iteration of each method in steady state with one worker: one
parameter step on a batch of rows, after ten imputer steps if the method has an imputer.

  normal  Gaussian by its Cholesky factor, Adam, a fifth of the cells missing
  quartic the quartic model, Adam, half of the cells missing
  star    free symmetric precision, proximal step, half of the cells missing`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.setting.Experiment == "quartic" && !cmd.Flags().Changed("method") {
				f.methods = slices.DeleteFunc(f.methods, func(m string) bool { e, _ := estimator.ByName(m); return e.NeedsNormal() })
			}
			return f.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	var known []string
	for _, e := range estimator.All {
		if !e.NeedsCompleteRows() && !e.OfMatrix() {
			known = append(known, e.Name)
		}
	}
	fl := cmd.Flags()
	fl.StringVar(&f.setting.Experiment, "experiment", "normal", "normal, quartic or star")
	fl.IntVar(&f.setting.D, "d", 10, "columns")
	fl.IntVar(&f.setting.Batch, "batch", 100, "rows in a batch")
	fl.IntVar(&f.setting.Draws, "draws", 10, "imputations per row")
	fl.TextVar(&f.setting.DType, "dtype", graph.Float64, "number type of the graphs: float64 or float32")
	fl.StringSliceVar(&f.methods, "method", known, "methods, for example "+strings.Join(known[:2], ","))
	fl.Float64Var(&f.seconds, "seconds", 2, "seconds for each method")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

func (f benchmark) run(ctx context.Context, w io.Writer) error {
	s := f.setting
	if s.D < 3 || s.Batch < 1 || s.Draws < 1 {
		return fmt.Errorf("--d %d --batch %d --draws %d: at least 3, 1 and 1 are needed", s.D, s.Batch, s.Draws)
	}
	for _, m := range f.methods {
		e, err := estimator.ByName(m)
		if err == nil && e.OfMatrix() {
			err = fmt.Errorf("method %s has no steps over rows", m)
		}
		if err != nil {
			return fmt.Errorf("--method: %w", err)
		}
	}
	blas, err := graph.BLAS()
	if err != nil {
		return err
	}
	type result struct {
		Method  string  `json:"method"`
		Seconds float64 `json:"seconds_per_iteration"`
	}
	s.N = s.Batch
	var results []result
	for _, s.Method = range f.methods {
		step, err := s.Stepper()
		if err != nil {
			return err
		}
		if _, err := Time(ctx, step, warmUp, 0); err != nil {
			return err
		}
		each, err := Time(ctx, step, leastTimed, f.seconds)
		if err != nil {
			return err
		}
		results = append(results, result{s.Method, each})
	}
	if f.json {
		return json.NewEncoder(w).Encode(map[string]any{"experiment": s.Experiment, "d": s.D, "batch": s.Batch, "r": s.Draws,
			"dtype": s.DType, "blas": blas, "results": results})
	}
	fmt.Fprintf(w, "%s, d = %d, batch %d, r = %d, %v, matrix products by %s\n", s.Experiment, s.D, s.Batch, s.Draws, s.DType, blas)
	for _, r := range results {
		fmt.Fprintf(w, "%-9s %10.3f ms per iteration\n", r.Method, 1e3*r.Seconds)
	}
	return nil
}
