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
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/graph"
	"missingscore/trainers/estimator"
)

// In peer_torch.py.
var peerMethods = []string{"var", "variw", "iw", "exact", "em", "zeroed", "full"}

type options struct {
	serve, check                          bool
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
		Long: `Time parameter iterations against the same algorithm in PyTorch. The two processes
take turns, each on one core. Settings with a line in --out are not measured again.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&o.serve, "serve", false, "answer questions on stdin")
	_ = fl.MarkHidden("serve")
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
	if o.serve {
		return serve(ctx, os.Stdin, w)
	}
	types, err := dtypes(o.dtypes)
	if err != nil {
		return fmt.Errorf("--dtypes: %w", err)
	}
	for _, m := range o.methods {
		if _, err := estimator.ByName(m); err != nil {
			return fmt.Errorf("--methods: %w", err)
		}
	}
	for _, e := range o.experiments {
		if !slices.Contains(Experiments, e) {
			return fmt.Errorf("--experiments: there is no %q; choose from %s", e, strings.Join(Experiments, ", "))
		}
	}
	failed := func(key []string, err error) { fmt.Fprintf(os.Stderr, "%v: %v\n", key, err) }
	runtime.GOMAXPROCS(1)
	peer, err := launchPeer(o.pythons)
	if err != nil {
		return err
	}
	defer peer.close()
	if o.check {
		return check(w, peer, checked())
	}
	ours, err := launchOurs()
	if err != nil {
		return err
	}
	defer ours.close()
	c := contest{ours, peer, o.rounds, o.block}
	return c.compare(ctx, w, o.out, settings(o.experiments, o.methods, o.d, types), failed)
}

func checked() []Setting {
	all := settings(Experiments, peerMethods, []int{7}, []graph.DType{graph.Float64})
	for i := range all {
		all[i].N, all[i].Batch, all[i].Draws = 40, 20, 4
	}
	return all
}

//go:embed peer_torch.py
var peerScript string

var errNoPeer = errors.New("no PyTorch found")

// It prints its name, then answers lines of JSON; see peer_torch.py.
type side struct {
	name string
	cmd  *exec.Cmd
	in   io.Closer
	ask  *json.Encoder
	hear *json.Decoder
}

var oneThread = []string{"GOMAXPROCS=1", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"}

// glibc keeps freed pages; without it PyTorch is up to 1.5 times slower.
var keepMemory = []string{"MALLOC_MMAP_THRESHOLD_=1073741824", "MALLOC_TRIM_THRESHOLD_=4294967296", "MALLOC_TOP_PAD_=268435456"}

func launch(env []string, program string, args ...string) (*side, error) {
	s := &side{cmd: exec.Command(program, args...)}
	s.cmd.Env = append(os.Environ(), append(env, oneThread...)...)
	s.cmd.Stderr = os.Stderr
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
		return nil, fmt.Errorf("%s does not start: %w", program, err)
	}
	s.name = hello.Name
	return s, nil
}

func launchOurs() (*side, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return launch(nil, self, "speed", "--serve")
}

// launchPeer returns the first Python that has PyTorch; else errNoPeer.
func launchPeer(pythons []string) (*side, error) {
	for _, python := range pythons {
		if exec.Command(python, "-c", "import torch").Run() == nil {
			return launch(keepMemory, python, "-c", peerScript)
		}
	}
	return nil, fmt.Errorf("%w by %s: install python3-torch or choose a Python with --python", errNoPeer, strings.Join(pythons, " or "))
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
	if err := json.Unmarshal(text, &refusal); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	if refusal.Error != "" {
		return fmt.Errorf("%s: %s", s.name, refusal.Error)
	}
	return json.Unmarshal(text, answer)
}

func (s *side) start(setting any) error {
	var nothing struct{}
	return s.question("start", setting, &nothing)
}

func (s *side) warm(setting any, seconds float64) error {
	if err := s.start(setting); err != nil {
		return err
	}
	_, err := s.time(seconds)
	return err
}

// timed is the answer to {"time": seconds}.
type timed struct {
	Seconds    float64 `json:"seconds_per_iteration"`
	Iterations int     `json:"iterations"`
	Error      string  `json:"error,omitempty"`
}

func (s *side) time(seconds float64) (t timed, err error) {
	err = s.question("time", seconds, &t)
	return t, err
}

func (s *side) close() {
	s.in.Close()
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	blas, err := graph.BLAS()
	if err != nil {
		return err
	}
	answer := json.NewEncoder(out)
	if err := answer.Encode(map[string]string{"name": blas}); err != nil {
		return err
	}
	var step func() error
	for ask := json.NewDecoder(in); ; {
		var q struct {
			Start *Setting
			Time  float64
		}
		if err := ask.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var t timed
		if q.Start != nil {
			step, err = q.Start.Stepper()
		} else {
			t.Seconds, t.Iterations, err = Time(ctx, step, 1, q.Time)
		}
		if err != nil {
			t.Error = err.Error()
		}
		if err := answer.Encode(t); err != nil {
			return err
		}
	}
}
