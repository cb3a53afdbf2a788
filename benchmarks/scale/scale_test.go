package scale

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/data/network"
	"missingscore/internal/trainers/regpath"
)

func smoke(t *testing.T) (settings, json.RawMessage) {
	t.Helper()
	text, err := Experiment.SettingsOf("smoke")
	require.NoError(t, err)
	s, err := decode(text)
	require.NoError(t, err)
	return s, text
}

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
	s, _ := smoke(t)
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
	of := func(p float64) regpath.Point { return regpath.Point{Packed: []float64{4, p, 1}} }
	require.Equal(t, "0.75", distance(2, []regpath.Point{of(0), of(-0.5)}, []regpath.Point{of(0), of(1)}))
}

// Stands in for R: 0.5 seconds, 30 megabytes, two networks, the second with one edge.
const rscript = `#!/bin/sh
[ "$1" = -e ] && { echo huge 0; exit 0; }
[ "$4 $5 $6" = '5 0.1 0.002' ] || exit 1
printf '0.5,30,2\n1,2,0\n' > "$3"
`

func TestPeer(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Rscript"), []byte(rscript), 0o700))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	s, _ := smoke(t)
	table, err := data.NewTable([]string{"a", "b", "c"}, []float64{1, 2, 3, 3, 1, 2}, nil)
	require.NoError(t, err)
	o, err := s.peer(t.Context(), method{Peer: "huge"}, table)
	require.NoError(t, err)
	require.Equal(t, 0.5, o.seconds)
	require.Equal(t, "30", o.megabytes)
	require.Len(t, o.networks, 2)
	require.Zero(t, o.networks[0].Count())
	require.True(t, o.networks[1].Has(0, 2))
	require.Equal(t, 1, o.networks[1].Count())
	require.Equal(t, unknown, o.away)
	_, err = s.peer(t.Context(), method{Peer: "huge", Limit: []float64{1}}, table)
	require.Error(t, err)
	for _, bad := range [][][]float64{nil, {{1, 2, 1}, {1, 0, 1}}, {{1, 2, 1}, {0, 0, 3}}, {{1, 2, 1}, {0, 1, 1}}} {
		_, err := readPeer(bad, 3)
		require.Error(t, err)
	}
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

func TestSettingsThatAreRefused(t *testing.T) {
	_, text := smoke(t)
	for _, c := range [][3]string{
		{`"peer":"huge"`, `"peer":"small"`, `there is no peer "small"`},
		{`"methods":["em-exact"`, `"methods":["em"`, `there is no method "em"`},
	} {
		bad := strings.Replace(string(text), c[0], c[1], 1)
		require.NotEqual(t, string(text), bad, c[0])
		_, err := grid([]byte(bad), 1)
		require.ErrorContains(t, err, c[2])
	}
}
