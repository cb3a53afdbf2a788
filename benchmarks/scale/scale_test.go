package scale

import (
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/harness"
	"missingscore/internal/data/network"
	"missingscore/internal/trainers/regpath"
)

// An empty network, one true edge, and both with a false edge.
func TestJudging(t *testing.T) {
	of := func(edges ...bool) network.Adjacency { return network.Adjacency{D: 4, Edge: edges} }
	truth := of(true, true, false, false, false, false)
	o := outcome{networks: []network.Adjacency{of(make([]bool, 6)...), of(true, false, false, false, false, false), of(true, true, true, false, false, false)}, seconds: 1.25, megabytes: "7", away: "0.01"}
	values, err := o.judge(truth)
	require.NoError(t, err)
	// ROC points (0, ½) and (¼, 1)
	require.Equal(t, []string{strconv.FormatFloat(0.25*0.75+0.75, 'f', 5, 64), "0.80000", "3", "3", "0.01", "1.25", "7"}, values)
}

func TestMethodsFindTheTruth(t *testing.T) {
	text, err := Experiment.SettingsOf("smoke")
	require.NoError(t, err)
	var s settings
	require.NoError(t, harness.Decode(text, &s))
	s.Lambdas = 20
	for _, m := range s.Methods {
		if m.Peer != "" {
			continue
		}
		values, err := s.run(t.Context(), size{Columns: 6, Rows: 4000, Missing: 0.1}, m, 1)
		require.NoError(t, err)
		require.Len(t, values, 7)
		best, err := strconv.ParseFloat(values[1], 64)
		require.NoError(t, err)
		require.Greater(t, best, 0.9, m.Name)
		require.Equal(t, "20", values[2], m.Name)
		seconds, err := strconv.ParseFloat(values[5], 64)
		require.NoError(t, err)
		require.Positive(t, seconds)
	}
}

// Partial correlations ¼ and −½.
func TestDistanceByHand(t *testing.T) {
	of := func(p float64) regpath.Point { return regpath.PointOf([]float64{4, p, 1}, 2) }
	require.Equal(t, "0.75", distance(2, []regpath.Point{of(0), of(-0.5)}, []regpath.Point{of(0), of(1)}))
}

func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector adds memory")
	}
	const megabytes = 200
	w := watchMemory()
	block := make([]byte, megabytes<<20)
	for i := range block {
		block[i] = byte(i)
	}
	text := w.megabytes()
	runtime.KeepAlive(block)
	if text == unknown {
		t.Skip("the system does not report the resident set")
	}
	found, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	require.InDelta(t, megabytes, found, 0.25*megabytes)
}
