package coverage

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/gaps"
	"missingscore/data/network"
	"missingscore/data/simulate"
)

// Three columns, an edge of partial correlation 0.5 and one of −0.25.
func TestJudge(t *testing.T) {
	truth := simulate.Gaussian{Mean: make([]float64, 3), Precision: mat.NewSymDense(3, []float64{1, -0.5, 0.25, -0.5, 1, 0, 0.25, 0, 1})}
	pairs := []network.Uncertainty{
		{Estimate: 0.4, SE: 0.1, Low: 0.2, High: 0.6, P: 1e-4, Q: 3e-4},
		{Estimate: -0.35, SE: 0.2, Low: -0.7, High: -0.26, P: 0.2, Q: 0.2},
		{Estimate: 0.3, SE: 0.1, Low: 0.1, High: 0.5, P: 0.003, Q: 0.005},
	}
	// of the two edges one interval covers; the errors are 0.1 each, one towards 0 and one away
	require.Equal(t, []string{"2", "0.5", "0", "0.1", "0.3", "0.158114", "0.1", "0", "0.003", "2", "0.5"}, rounded(judge(truth, pairs, 0.1)))
	pairs[2] = network.Unknown(0)
	require.Equal(t, []string{"2", "0.5", "0", "0.1", "0", "0.158114", "0", "0", "-", "1", "0"}, rounded(judge(truth, pairs, 0.1)))
}

// rounded has no 1e-17 in place of 0.
func rounded(words []string) []string {
	for i, w := range words {
		if v, err := strconv.ParseFloat(w, 64); err == nil && math.Abs(v) < 1e-12 {
			words[i] = "0"
		}
	}
	return words
}

// By R 4.2.2, ks.test(x, "punif", exact = TRUE) of ((0:19 + .5)/20)^1.6 and ^6: Stephens'
// approximation is that to a digit or two.
func TestUniform(t *testing.T) {
	var some, small []float64
	for i := range 20 {
		v := (float64(i) + 0.5) / 20
		some, small = append(some, math.Pow(v, 1.6)), append(small, math.Pow(v, 6))
	}
	require.InDelta(t, 0.3758569, uniform(some), 0.01)
	require.Less(t, uniform(small), 1e-6) // 1.5e-7
	require.Equal(t, 1., uniform([]float64{0.1, 0.3, 0.5, 0.7, 0.9, math.NaN()}))
}

// The rows of each kind: Student's have its variance, 5/3 of the normal's; truncated ones are
// within their bounds.
func TestSimulate(t *testing.T) {
	at := func(rows string) setting {
		return setting{design: design{Rows: rows}, columns: 4, rows: 20000, law: gaps.Law{Missing: 0.2}}
	}
	variance := func(rows string) float64 {
		truth, _, table, err := at(rows).simulate(1)
		require.NoError(t, err)
		var sigma mat.Dense
		require.NoError(t, sigma.Inverse(truth.Precision))
		sum := 0.0
		x := table.Column(0)
		for _, v := range x {
			sum += v * v / float64(len(x)) / sigma.At(0, 0)
		}
		return sum
	}
	require.InDelta(t, 1, variance("normal"), 0.05)
	require.InDelta(t, 5./3, variance("t5"), 0.2)
	_, support, table, err := at("truncated").simulate(1)
	require.NoError(t, err)
	require.NoError(t, table.Inside(support))
	require.False(t, math.IsInf(support.Lower[1], -1))
	require.True(t, math.IsInf(support.Lower[2], -1))
}

// covered are replicates of one setting whose edges are covered as often as given, warned of or
// not.
func covered(share float64, warned string) cells.Results {
	r := cells.Results{Columns: []string{designColumn, lawColumn, columnsColumn, rowsColumn, "replicate", kindColumn,
		edgesColumn, edgeCoverColumn, otherCoverColumn, edgeErrorColumn, otherErrorColumn, edgeSEColumn, otherSEColumn, biasColumn, nullColumn, foundColumn, falseColumn, warnedColumn, secondsColumn, pathColumn}}
	for i := range 20 {
		v := strconv.FormatFloat(share+0.001*float64(i%3-1), 'g', 6, 64)
		r.Lines = append(r.Lines, []string{"normal", "MCAR 30 %", "10", "200", strconv.Itoa(i + 1), "robust", "12", v, "0.95", "0.1", "0.1", "0.1", "0.1", "0.01", strconv.FormatFloat((float64(i)+0.5)/20, 'g', 3, 64), "10", "0.05", warned, "1", "2"})
	}
	return r
}

func TestTablesAndClaims(t *testing.T) {
	text, err := Experiment.SettingsOf("full")
	require.NoError(t, err)
	made, err := tables(text, covered(0.95, "0"))
	require.NoError(t, err)
	require.Equal(t, [][]string{{"normal", "MCAR 30 %", "10", "200", "robust", "0.950 ± 0.000", "0.950 ± 0.000", "1.00", "1.00", "+0.010", "1", "10.0", "0.050 ± 0.000", "0.00", "20", "1", "2"}}, made[0].Lines)
	for _, c := range []struct {
		share float64
		want  claims.Outcome
	}{{0.95, claims.Holds}, {0.92, claims.DoesNotHold}, {0.98, claims.DoesNotHold}} {
		v, err := covers(func(setting, measures) bool { return true }, "robust")(covered(c.share, "1"))
		require.NoError(t, err)
		require.Equal(t, c.want, v.Outcome, "%v", c.share)
	}
	for warned, want := range map[string]claims.Outcome{"0": claims.DoesNotHold, "1": claims.Undecided} {
		for _, claim := range statements {
			if claim.ID == "coverage-warned" {
				v, err := claim.Test(covered(0.92, warned))
				require.NoError(t, err)
				require.Equal(t, want, v.Outcome, "a setting that is warned of is not tested")
			}
		}
	}
	v, err := discoveries("robust")(covered(0.95, "0"))
	require.NoError(t, err)
	require.Equal(t, claims.Holds, v.Outcome)
	wrong := covered(0.95, "0")
	for i := range wrong.Lines {
		wrong.Lines[i][16] = "0.2"
	}
	v, err = discoveries("robust")(wrong)
	require.NoError(t, err)
	require.Equal(t, claims.DoesNotHold, v.Outcome)
}

func TestSettingsThatAreRefused(t *testing.T) {
	text, err := Experiment.SettingsOf("smoke")
	require.NoError(t, err)
	for old, c := range map[string][2]string{
		`"rows":"t5"`:   {`"rows":"t6"`, `design "t5": rows "t6": they are normal, t5 or truncated`},
		`["MCAR 30 %"]`: {`["MCAR"]`, `there is no law "MCAR"`},
	} {
		_, err = grid([]byte(strings.Replace(string(text), old, c[0], 1)), 1)
		require.ErrorContains(t, err, c[1])
	}
	_, err = grid([]byte(strings.Replace(string(text), `["model","robust"]`, `["none"]`, 1)), 1)
	require.ErrorContains(t, err, `kind "none" infers nothing`)
}
