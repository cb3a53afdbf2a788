package speed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
)

// The median of 1/2, 4/1, 3/3.
func TestAlternateTakesTurns(t *testing.T) {
	var order string
	play := func(name string, values ...float64) func() (timed, error) {
		return func() (timed, error) {
			order += name
			v := values[0]
			values = values[1:]
			return timed{Seconds: v}, nil
		}
	}
	o, err := alternate(t.Context(), 3, play("o", 1, 4, 3), play("p", 2, 1, 3))
	require.NoError(t, err)
	require.Equal(t, "opopop", order)
	require.Equal(t, outcome{spread{3, 1, 4}, spread{2, 1, 3}, spread{1, 0.5, 4}, ""}, o)
}

func TestWrongFlags(t *testing.T) {
	good := options{experiments: []string{"star"}, methods: []string{"iw"}, d: []int{10}, dtypes: []string{"float64"}}
	for want, spoil := range map[string]func(*options){
		`--methods: there is no method "guess"`: func(o *options) { o.methods = []string{"guess"} },
		`--experiments: there is no "moon"`:     func(o *options) { o.experiments = []string{"moon"} },
		`--dtypes: unknown number type "f"`:     func(o *options) { o.dtypes = []string{"f"} },
	} {
		o := good
		spoil(&o)
		require.ErrorContains(t, o.run(context.Background(), io.Discard), want)
	}
}

func TestServe(t *testing.T) {
	s := Setting{Experiment: "normal", Method: "iw", D: 4, N: 10, Batch: 10, Draws: 2, DType: graph.Float32}
	var in, out bytes.Buffer
	ask := json.NewEncoder(&in)
	require.NoError(t, ask.Encode(map[string]any{"start": s}))
	require.NoError(t, ask.Encode(map[string]any{"time": 0}))
	s.Method = "guess"
	require.NoError(t, ask.Encode(map[string]any{"start": s}))
	require.NoError(t, serve(context.Background(), &in, &out))
	hear := json.NewDecoder(&out)
	var hello struct{ Name string }
	require.NoError(t, hear.Decode(&hello))
	require.NotEmpty(t, hello.Name)
	var answers [3]timed
	for i := range answers {
		require.NoError(t, hear.Decode(&answers[i]))
	}
	require.Empty(t, answers[0].Error)
	require.Equal(t, 1, answers[1].Iterations)
	require.Positive(t, answers[1].Seconds)
	require.Contains(t, answers[2].Error, `there is no method "guess"`)
}

func TestWithoutAPeer(t *testing.T) {
	_, err := launchPeer([]string{"no-such-python"})
	require.ErrorIs(t, err, errNoPeer)
	require.EqualError(t, err, "no PyTorch found by no-such-python: install python3-torch or choose a Python with --python")
	err = options{pythons: []string{"no-such-python"}, check: true}.run(context.Background(), io.Discard)
	require.ErrorIs(t, err, errNoPeer)
}

func peer(t *testing.T) *side {
	p, err := launchPeer([]string{"python3", "/usr/bin/python3"})
	if errors.Is(err, errNoPeer) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(p.close)
	return p
}

func TestPeersGradientsAreOurs(t *testing.T) {
	require.NoError(t, check(io.Discard, peer(t), checked()))
}

// Zeroed has no noise, so both sides have equal parameters.
func TestPeersPathIsOurs(t *testing.T) {
	p := peer(t)
	s := Setting{Experiment: "star", Method: "zeroed", D: 6, N: 60, Batch: 60, Draws: 1}
	table, err := s.Table()
	require.NoError(t, err)
	r, err := fit(context.Background(), table, s)
	require.NoError(t, err)
	standard, _ := data.Standardise(table)
	require.NoError(t, p.start(forPeer(s, standard)))
	var a timed
	require.NoError(t, p.question("path", penalties(standard), &a))
	var theirs struct{ Matrix []float64 }
	require.NoError(t, p.question("parameters", 0, &theirs))
	last := r.Points[len(r.Points)-1]
	require.Positive(t, last.Edges)
	require.True(t, mat.EqualApprox(mat.NewDense(6, 6, unpacked(last.Packed, 6, true)), mat.NewDense(6, 6, theirs.Matrix), 1e-9))
}

func TestPeerReportsErrors(t *testing.T) {
	p := peer(t)
	require.ErrorContains(t, p.start(map[string]any{"d": 3}), "missing")
	var nothing struct{}
	require.ErrorContains(t, p.question("dance", 1, &nothing), "dance")
	s := Setting{Experiment: "normal", Method: "em-full", D: 4, N: 10, Batch: 10, Draws: 2}
	table, err := s.Table()
	require.NoError(t, err)
	require.ErrorContains(t, p.start(forPeer(s, table)), "no method em-full for normal")
}

// Without a choice of λ.
func fit(ctx context.Context, t *data.Table, s Setting) (*trainers.NetworkResult, error) {
	r, err := harness.Estimate(ctx, t, trainers.Spec{
		Steps:   engine.Config{Method: s.Method, Batch: s.Batch, Draws: s.Draws, DType: s.DType, Seed: s.Seed},
		Network: &regpath.Config{Schedule: regpath.Fixed, Select: regpath.Selection{Kind: "none"}, PathOnly: true},
	}, trainers.Run{})
	if err != nil {
		return nil, err
	}
	return r.Network, nil
}

func TestTime(t *testing.T) {
	steps := 0
	step := func() error { steps++; return nil }
	_, n, err := Time(t.Context(), step, 5, 0)
	require.NoError(t, err)
	require.Equal(t, 5, n)
	require.Equal(t, 5, steps)
	_, _, err = Time(t.Context(), func() error { return errors.New("no step") }, 5, 0)
	require.EqualError(t, err, "no step")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, _, err = Time(ctx, step, 5, 0)
	require.ErrorIs(t, err, context.Canceled)
}

func TestSettingsStep(t *testing.T) {
	for _, experiment := range Experiments {
		step, err := Setting{Experiment: experiment, Method: "iw", D: 3, N: 20, Batch: 10, Draws: 2, Seed: 1}.Stepper()
		require.NoError(t, err)
		require.NoError(t, step())
	}
	_, err := Setting{Experiment: "moon", Method: "iw", D: 3, N: 5}.Stepper()
	require.EqualError(t, err, `there is no experiment "moon"; choose from normal, quartic, star`)
	_, err = Setting{Experiment: "normal", Method: "vae", D: 3, N: 5}.Table()
	require.ErrorContains(t, err, "vae")
}

func TestStepsDoNotAllocate(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector allocates")
	}
	blas, err := graph.BLAS()
	require.NoError(t, err)
	if strings.HasPrefix(blas, "gonum") {
		t.Skip("without OpenBLAS, matrix products of gonum allocate")
	}
	for _, experiment := range Experiments {
		step, err := Setting{Experiment: experiment, Method: "var", D: 4, N: 40, Batch: 20, Draws: 3, Seed: 1}.Stepper()
		require.NoError(t, err)
		for range 3 { // allocates buffers
			require.NoError(t, step())
		}
		require.Zero(t, testing.AllocsPerRun(20, func() {
			if err := step(); err != nil {
				t.Error(err)
			}
		}), experiment)
	}
}
