// Package speed times parameter iterations: bench this program, speed against PyTorch, each side on
// one core.
package speed

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/benchmarks/harness"
	"missingscore/graph"
	"missingscore/trainers/estimator"
)

// In peer_torch.py.
var peerMethods = []string{"var", "variw", "iw", "exact", "em", "zeroed", "full"}

type options struct {
	check                                 bool
	experiments, methods, dtypes, pythons []string
	d                                     []int
	rounds                                int
	block                                 float64
	out                                   string
}

func Command() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "speed",
		Short: "Time parameter iterations against PyTorch",
		Long: `Time parameter iterations against the same algorithm in PyTorch. The two programs
take turns, each on one core. Settings with a line in --out are not measured again.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&o.check, "check", false, "compare the gradients of the two sides")
	fl.StringSliceVar(&o.experiments, "experiments", Experiments, "experiments")
	fl.StringSliceVar(&o.methods, "methods", peerMethods, "methods")
	fl.IntSliceVar(&o.d, "d", []int{10, 50, 100}, "numbers of columns")
	fl.StringSliceVar(&o.dtypes, "dtypes", []string{"float64", "float32"}, "number types")
	fl.IntVar(&o.rounds, "rounds", 10, "timed blocks of each side")
	fl.Float64Var(&o.block, "block", 0.3, "seconds of a block")
	fl.StringSliceVar(&o.pythons, "python", []string{"python3", "/usr/bin/python3"}, "Pythons to try for PyTorch")
	fl.StringVar(&o.out, "out", "speed.csv", "file of the results")
	return cmd
}

func (o options) run(ctx context.Context, w io.Writer) error {
	types := make([]graph.DType, len(o.dtypes))
	for i, name := range o.dtypes {
		if err := types[i].UnmarshalText([]byte(name)); err != nil {
			return fmt.Errorf("--dtypes: %w", err)
		}
	}
	all, err := settings(o.experiments, o.methods, o.d, types)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	peer, err := launchPeer(o.pythons)
	if err != nil {
		return err
	}
	defer peer.close()
	if o.check {
		return check(w, peer, checked())
	}
	blas, err := graph.BLAS()
	if err != nil {
		return err
	}
	var cells harness.Grid
	for _, s := range all {
		cells.Add(func(ctx context.Context) ([]string, error) {
			variant, values, err := o.compare(ctx, s, peer)
			return append([]string{variant, blas, strconv.Itoa(o.rounds)}, values...), err
		}, s.Experiment, s.Method, s.D, s.N, s.Batch, s.Draws, s.DType, peer.name)
	}
	header := []string{"experiment", "method", "d", "n", "batch", "r", "dtype", "peer", "variant", "blas", "rounds",
		"ours", "ours_low", "ours_high", "peer", "peer_low", "peer_high", "ratio", "ratio_low", "ratio_high"}
	records, err := harness.Fill(ctx, o.out, header, cells.Cells, 1, func(c harness.Cell, _, _ int, err error) {
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", c.Name(), err)
		}
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "| experiment | method | d | type | ours, s | PyTorch, s | ours / PyTorch | range | PyTorch's variant |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, r := range records {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s to %s | %s |\n", r[0], r[1], r[2], r[6], r[11], r[14], r[17], r[18], r[19], r[8])
	}
	return nil
}

// settings leaves out methods that need a normal model for quartic.
func settings(experiments, methods []string, ds []int, dtypes []graph.DType) (all []Setting, err error) {
	for _, e := range experiments {
		for _, d := range ds {
			for _, m := range methods {
				by, err := estimator.ByName(m)
				if err != nil {
					return nil, err
				}
				for _, t := range dtypes {
					s := Setting{Experiment: e, Method: m, D: d, N: 100, Batch: 100, Draws: 10, DType: t}
					if e == "star" { // a path uses all rows in each step
						s.N = 1000
					}
					if e != "quartic" || !by.NeedsNormal() {
						all = append(all, s)
					}
				}
			}
		}
	}
	return all, nil
}

// compare returns the peer's fastest variant, and median, least and largest of our seconds, the
// peer's seconds and their ratio per iteration, over rounds of one block of each side.
func (o options) compare(ctx context.Context, s Setting, peer *side) (variant string, values []string, err error) {
	step, err := s.Stepper()
	if err != nil {
		return "", nil, err
	}
	ours := func() (float64, error) { return Time(ctx, step, 1, o.block) }
	theirs := func() (float64, error) { return peer.time(o.block) }
	t, err := s.Table()
	if err != nil {
		return "", nil, err
	}
	q, err := fastest(peer, forPeer(s, t), o.block)
	if err != nil {
		return "", nil, err
	}
	if err := peer.start(q); err != nil {
		return "", nil, err
	}
	if _, err := alternate(ctx, 1, ours, theirs); err != nil { // warm up
		return "", nil, err
	}
	values, err = alternate(ctx, o.rounds, ours, theirs)
	return q.String(), values, err
}

// alternate lets the sides take turns, so that the machine's speed affects both.
func alternate(ctx context.Context, rounds int, ours, theirs func() (float64, error)) (values []string, err error) {
	var x [3][]float64
	for range rounds {
		a, err := ours()
		if err != nil {
			return nil, err
		}
		b, err := theirs()
		if err := errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		x[0], x[1], x[2] = append(x[0], a), append(x[1], b), append(x[2], a/b)
	}
	for _, of := range x {
		slices.Sort(of)
		for _, v := range []float64{(of[(rounds-1)/2] + of[rounds/2]) / 2, of[0], of[rounds-1]} {
			values = append(values, strconv.FormatFloat(v, 'g', 5, 64))
		}
	}
	return values, nil
}

// fastest times three blocks of each variant of the peer; the fastest block counts.
func fastest(peer *side, q peerSetting, block float64) (best peerSetting, err error) {
	variants, err := q.variants()
	if err != nil {
		return q, err
	}
	best, least := variants[0], math.Inf(1)
	for i := 0; i < 3*len(variants) && len(variants) > 1; i++ {
		v := variants[i%len(variants)]
		if err := peer.start(v); err != nil {
			return q, err
		}
		if _, err := peer.time(0); err != nil { // warm up
			return q, err
		}
		seconds, err := peer.time(block)
		if err != nil {
			return q, err
		}
		if seconds < least {
			least, best = seconds, v
		}
	}
	return best, nil
}

//go:embed peer_torch.py
var peerScript string

var errNoPeer = errors.New("no PyTorch found")

// side is PyTorch's process. It prints its name, then answers lines of JSON; see peer_torch.py.
type side struct {
	name string
	cmd  *exec.Cmd
	in   io.Closer
	ask  *json.Encoder
	hear *json.Decoder
}

// One thread; glibc keeps freed pages, without which PyTorch is up to 1.5 times slower.
var peerEnvironment = []string{"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1",
	"MALLOC_MMAP_THRESHOLD_=1073741824", "MALLOC_TRIM_THRESHOLD_=4294967296", "MALLOC_TOP_PAD_=268435456"}

// launchPeer starts the first Python that has PyTorch; else errNoPeer.
func launchPeer(pythons []string) (*side, error) {
	i := slices.IndexFunc(pythons, func(python string) bool { return exec.Command(python, "-c", "import torch").Run() == nil })
	if i < 0 {
		return nil, fmt.Errorf("%w by %s: install python3-torch or choose a Python with --python", errNoPeer, strings.Join(pythons, " or "))
	}
	s := &side{cmd: exec.Command(pythons[i], "-c", peerScript)}
	s.cmd.Env, s.cmd.Stderr = append(os.Environ(), peerEnvironment...), os.Stderr
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.in, s.ask, s.hear = in, json.NewEncoder(in), json.NewDecoder(out)
	var hello struct{ Name string }
	if err := s.hear.Decode(&hello); err != nil {
		s.close()
		return nil, fmt.Errorf("%s does not start: %w", pythons[i], err)
	}
	s.name = hello.Name
	return s, nil
}

// question sends {what: value}.
func (s *side) question(what string, value, answer any) error {
	if err := s.ask.Encode(map[string]any{what: value}); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	var text json.RawMessage
	if err := s.hear.Decode(&text); err != nil {
		return fmt.Errorf("%s: no answer: %w", s.name, err)
	}
	var refusal struct{ Error string }
	if err := json.Unmarshal(text, &refusal); err != nil || refusal.Error != "" {
		return errors.Join(err, fmt.Errorf("%s: %s", s.name, refusal.Error))
	}
	return json.Unmarshal(text, answer)
}

func (s *side) start(setting any) error { return s.question("start", setting, &struct{}{}) }

// time returns seconds per iteration.
func (s *side) time(seconds float64) (float64, error) {
	var answer struct {
		Seconds float64 `json:"seconds_per_iteration"`
	}
	err := s.question("time", seconds, &answer)
	return answer.Seconds, err
}

func (s *side) close() {
	s.in.Close()
	s.cmd.Process.Kill()
	s.cmd.Wait()
}
