package mar

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/data/network"
	"missingscore/data/simulate"
	"missingscore/internal/stream"
)

// By hand: x → y → z of correlations 0.8 and 0.5 has the covariances 0.8, 0.5 and 0.4, the
// partial correlation (0.8 − 0.4 · 0.5)/√((1 − 0.16)(1 − 0.25)) of x and y, and none of x and z.
func TestChain(t *testing.T) {
	p := chain(0.8, 0.5)
	var sigma mat.Dense
	require.NoError(t, sigma.Inverse(p))
	require.True(t, mat.EqualApprox(&sigma, mat.NewDense(3, 3, []float64{1, 0.8, 0.4, 0.8, 1, 0.5, 0.4, 0.5, 1}), 1e-12))
	rho := network.PartialCorrelations(p)
	require.InDelta(t, 0.6/0.7937253933193772, rho[0], 1e-12)
	require.Zero(t, rho[1])
	require.Equal(t, []string{"1–2", "1–3", "2–3"}, pairs(3))
}

// Whether a cell is hidden does not depend on hidden cells: with others in their places the
// same ones are hidden. Each design hides something, and leaves every column some rows.
func TestHiddenAtRandom(t *testing.T) {
	for name, c := range designs {
		t.Run(name, func(t *testing.T) {
			d := c.precision.SymmetricDim()
			whole, err := simulate.Gaussian{Mean: make([]float64, d), Precision: c.precision}.Sample(500, stream.New(1, stream.Simulate))
			require.NoError(t, err)
			hidden := make([]int, d)
			for i := range whole.N {
				row := whole.Values[i*d : (i+1)*d]
				mask := func() []bool {
					seen := make([]bool, d)
					for j := range seen {
						seen[j] = true
					}
					c.hide(row, seen, stream.New(1, stream.Hide, uint64(i)))
					return seen
				}
				before := mask()
				for j, seen := range before {
					if !seen {
						row[j] += 5
						hidden[j]++
					}
				}
				require.Equal(t, before, mask())
			}
			require.Zero(t, hidden[0])
			for j, n := range hidden {
				require.Less(t, n, 400, "column %d", j+1)
			}
			require.Positive(t, mat.Sum(mat.NewVecDense(d, floats(hidden))))
			table, err := c.table(100, 1)
			require.NoError(t, err)
			require.Positive(t, table.Missing())
		})
	}
}

func floats(x []int) (out []float64) {
	for _, v := range x {
		out = append(out, float64(v))
	}
	return out
}

// results are four replicates of the first design: partial correlations 0.1 above the truth
// by one method, at it by the other.
func results() cells.Results {
	r := cells.Results{Columns: []string{designColumn, "replicate", "method", missingColumn, partialColumn, meansColumn, signColumn, falseColumn, secondsColumn}}
	for i, noise := range []string{"1", "2", "3", "4"} {
		replicate := string(rune('1' + i))
		r.Lines = append(r.Lines,
			[]string{"hidden where low", replicate, "em-exact", "0.2", "0.756 0.00" + noise + " 0.327", "0 0.00" + noise + " 0", "0", "0", "1"},
			[]string{"hidden where low", replicate, "exact", "0.2", "0.276 0.28" + noise + " -0.1", "0 -0.7 0", "1", "1", "1"})
	}
	return r
}

func TestTablesAndClaims(t *testing.T) {
	r := results()
	made, err := tables([]byte(`{"rows": 10, "designs": ["hidden where low"], "methods": [{"name": "em-exact", "fit": {}}, {"name": "exact", "fit": {}}, {"name": "var", "fit": {}}]}`), r)
	require.NoError(t, err)
	require.Len(t, made[0].Lines, 2)
	require.Equal(t, []string{"hidden where low", "20 %", "exact", "**−0.480 ± 0.000** (1–2)", "**+0.282 ± 0.002** (1–3)", "**−0.700 ± 0.000** (2)", "1", "1", "4"}, made[0].Lines[1])
	for i, want := range []claims.Outcome{claims.Holds, claims.Holds} {
		v, err := statements[i].Test(r)
		require.NoError(t, err)
		require.Equal(t, want, v.Outcome, statements[i].ID)
	}
	v, err := within("exact")(r)
	require.NoError(t, err)
	require.Equal(t, claims.DoesNotHold, v.Outcome)
	v, err = beyond("em-exact")(r)
	require.NoError(t, err)
	require.Equal(t, claims.DoesNotHold, v.Outcome)
	r.Lines[0][4] = "0.756 0.1"
	_, err = tables([]byte(`{"rows": 10, "designs": ["hidden where low"], "methods": [{"name": "em-exact", "fit": {}}]}`), r)
	require.ErrorContains(t, err, "a line has 8 numbers, not 9")
}

func TestSettingsThatAreRefused(t *testing.T) {
	text, err := Experiment.SettingsOf("smoke")
	require.NoError(t, err)
	_, err = grid([]byte(strings.Replace(string(text), "dropout", "dropin", 1)), 1)
	require.EqualError(t, err, `settings: there is no design "dropin"`)
}

// On the first design likelihood is right, and the network by the marginal loss has an edge
// x–z that there is none of. Of a table whose x–y has the other sign one edge is wrong.
func TestRun(t *testing.T) {
	s := settings{Rows: 2000}
	run := func(m method, c design) []string {
		values, err := s.run(t.Context(), c, m, 1)
		require.NoError(t, err)
		require.Len(t, values, 6)
		return values[3:5]
	}
	c := designs["hidden where low"]
	require.Equal(t, []string{"0", "0"}, run(methodOf(peer), c))
	marginal := methodOf("exact")
	marginal.Network = true
	require.Equal(t, []string{"0", "1"}, run(marginal, c))
	turned := c
	turned.precision = chain(-0.8, 0.5)
	found, err := turned.table(2000, 1)
	require.NoError(t, err)
	_, p, err := methodOf(peer).estimate(t.Context(), found, 1)
	require.NoError(t, err)
	signs, alarms := mistakes(network.PartialCorrelations(c.precision), network.PartialCorrelations(p))
	require.Equal(t, 1, signs)
	require.Zero(t, alarms)
}

func methodOf(name string) (m method) {
	m.Fit.Method = name
	return m
}
