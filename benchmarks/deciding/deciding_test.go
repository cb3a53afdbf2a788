package deciding

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/gaps"
	"missingscore/data/network"
)

// By hand: two hits, one alarm, one miss, two pairs rightly left out.
func TestCounts(t *testing.T) {
	c := count(network.Adjacency{D: 4, Edge: []bool{true, true, true, false, false, false}}, network.Adjacency{D: 4, Edge: []bool{true, true, false, true, false, false}})
	require.Equal(t, counts{hits: 2, alarms: 1, misses: 1, rest: 2}, c)
	require.InDelta(t, 4./6, c.f1(), 1e-12)
	require.InDelta(t, 1./3, c.fdr(), 1e-12)
	require.InDelta(t, (2*2-1*1)/9., c.mcc(), 1e-12)
	empty := count(network.Adjacency{D: 2, Edge: []bool{true}}, network.Adjacency{D: 2, Edge: []bool{false}})
	require.Equal(t, [3]float64{0, 0, 0}, [3]float64{empty.f1(), empty.fdr(), empty.mcc()})
}

// Of many rows without a gap each way finds the network.
func TestWaysFindTheTruth(t *testing.T) {
	text, err := Experiment.SettingsOf("smoke")
	require.NoError(t, err)
	s, err := decode(text)
	require.NoError(t, err)
	s.Path.Lambdas = 30
	k := kind{Columns: 5, Rows: 4000, Hidden: gaps.Law{Name: "none"}}
	for _, w := range []string{"l1, ebic", "adaptive, ebic", "ridge, ebic", "auto, ebic", "ridge, stability=1"} {
		values, err := s.run(t.Context(), "chain", k, w, 1)
		require.NoError(t, err)
		require.Equal(t, []string{"1.00000", "1.00000", "1.00000", "0.00000", "4"}, values[:5], w)
	}
}

// Two replicates of two settings: within a replicate these are averaged first.
func TestTablesPairReplicates(t *testing.T) {
	text, err := Experiment.SettingsOf("smoke")
	require.NoError(t, err)
	s, err := decode(text)
	require.NoError(t, err)
	r := cells.Results{Columns: []string{graphColumn, tableColumn, "replicate", methodColumn, aucColumn, f1Column, mccColumn, fdrColumn}}
	on := func(graph string, setting kind, replicate, way, auc string) {
		r.Lines = append(r.Lines, []string{graph, setting.name(), replicate, way, auc, "0.5", "0.5", "0.5"})
	}
	add := func(setting kind, replicate, way, auc string) { on("star", setting, replicate, way, auc) }
	for i, auc := range []string{"0.5", "0.7"} {
		replicate := []string{"1", "2"}[i]
		add(s.Tables[0], replicate, "l1, ebic", auc)
		add(s.Tables[0], replicate, "auto, ebic", "0.8")
		add(s.Tables[1], replicate, "l1, ebic", "0.9")
		add(s.Tables[1], replicate, "auto, ebic", "0.9")
	}
	add(s.Tables[1], "3", "l1, ebic", "0") // lacks a way: it does not count
	on("random", s.Tables[0], "1", "l1, ebic", "0.7")
	on("random", s.Tables[0], "1", "auto, ebic", "0.8")
	on("random", s.Tables[0], "1", "ridge, ebic", "0.6") // elsewhere it was not run: lines of more than this have none
	out, err := tables(text, r)
	require.NoError(t, err)
	require.Equal(t, "auc", out[0].Name)
	require.Equal(t, []string{"graph", "l1, ebic", "ridge, ebic", "auto, ebic", "replicates × settings"}, out[0].Header)
	require.Equal(t, [][]string{
		{"random", "0.700", "0.600", "**0.800**", "1"}, {"star", "0.750", "", "**0.850**", "4"},
		{"random, hub, chain", "0.700", "0.600", "**0.800**", "1"}, {"random, hub, chain: 5 columns, 60 rows, MCAR 30 %", "0.700", "0.600", "**0.800**", "1"}, {"all", "0.750", "", "**0.842**", "5"}, // of 0.7, 0.8 and 0.8, 0.833
	}, out[0].Lines)
	require.Equal(t, "auc differences", out[1].Name)
	require.Equal(t, []string{"star", "", "", "+0.100 ± 0.635", "4"}, out[1].Lines[1]) // 0.15 and 0.05; t(1) has its 97.5 % quantile at 12.7
}

// auto is ahead of l1 and as it on the star, where adaptive is behind.
func TestClaims(t *testing.T) {
	r := cells.Results{Columns: []string{graphColumn, tableColumn, "replicate", methodColumn, aucColumn, f1Column}}
	add := func(graph, way string, auc ...string) {
		for i, x := range auc {
			r.Lines = append(r.Lines, []string{graph, "t", string(rune('1' + i)), way, x, x})
		}
	}
	add("random", "l1, ebic", "0.8", "0.81", "0.8", "0.82", "0.8")
	add("random", "auto, ebic", "0.9", "0.91", "0.91", "0.9", "0.9")
	add("random", "adaptive, ebic", "0.9", "0.91", "0.91", "0.9", "0.9")
	add("star", "l1, ebic", "0.8", "0.81", "0.8", "0.82", "0.8")
	add("star", "auto, ebic", "0.8", "0.81", "0.8", "0.82", "0.801")
	add("star", "adaptive, ebic", "0.7", "0.71", "0.71", "0.71", "0.7")
	for i, want := range []claims.Outcome{claims.Undecided, claims.Holds, claims.Holds, claims.Holds} {
		v, err := statements[i].Test(r)
		require.NoError(t, err)
		require.Equal(t, want, v.Outcome, statements[i].ID)
	}
}

func TestSettingsThatAreRefused(t *testing.T) {
	text, err := Experiment.SettingsOf("smoke")
	require.NoError(t, err)
	for _, c := range [][3]string{
		{`"random"`, `"ring"`, `graph "ring": it is one of`},
		{`"l1, ebic"`, `"l2, ebic"`, "penalty l2"},
		{`"l1, ebic"`, `"l1"`, "select"},
		{`"columns":5`, `"columns":2`, "columns"},
		{`"missing":0.3`, `"missing":1.3`, "share of 1.3"},
	} {
		compact := strings.NewReplacer(`: `, `:`).Replace(string(text))
		bad := strings.Replace(compact, c[0], c[1], 1)
		require.NotEqual(t, compact, bad, c[0])
		_, err := grid([]byte(bad), 1)
		require.ErrorContains(t, err, c[2])
	}
}
