package claims

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/harness"
)

var key = []string{"law", "d", "replicate", "method"}

// b/a is 2 at d = 5 and 2 exp((k − 2)/10) at d = 10 in replicate k.
func results() harness.Results {
	r := harness.Results{Key: key, Columns: append(key, "error", "auc")}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 17, 64) }
	for k := 1; k <= 3; k++ {
		add := func(law, d, method string, err float64) {
			r.Lines = append(r.Lines, []string{law, d, strconv.Itoa(k), method, "9 " + number(err), number(err / 10)})
		}
		add("MCAR", "5", "a", float64(k))
		add("MCAR", "5", "b", 2*float64(k))
		add("MCAR", "10", "a", 1)
		add("MCAR", "10", "b", 2*math.Exp(float64(k-2)/10))
		add("MAR", "5", "a", 7)
	}
	return r
}

func judge(t *testing.T, c Claim, r harness.Results) Outcome {
	o, err := c.Judge(r)
	require.NoError(t, err)
	return o
}

// Mean log ratios are log ½ + (0.05, 0, −0.05); t(0.975; 2) = 4.302653.
func TestRatioByHand(t *testing.T) {
	o := judge(t, lower("x", "e", "", "error", nil, list("a"), list("b")), results())
	half := 4.302653 * 0.05 / math.Sqrt(3)
	require.InDelta(t, 0.5, o.Mean, 1e-9)
	require.InDelta(t, 0.5*math.Exp(-half), o.Low, 1e-6)
	require.InDelta(t, 0.5*math.Exp(half), o.High, 1e-6)
	require.Equal(t, 3, o.Replicates)
	require.Equal(t, Holds, o.Verdict)
	require.Equal(t, "error, a / b", o.Of)
	require.Equal(t, DoesNotHold, judge(t, lower("x", "e", "", "error", nil, list("b"), list("a")), results()).Verdict)
	require.Equal(t, Undecided, judge(t, lower("x", "e", "", "error", nil, list("a"), list("b")).wants(Below(math.Log(0.5))), results()).Verdict)
}

func TestEachAndPairs(t *testing.T) {
	o := judge(t, lower("x", "e", "", "error", Where{"law": "MC*"}, list("a"), list("b")).each("d"), results())
	require.Equal(t, "error, a / b, d 10", o.Of)
	require.Equal(t, Holds, o.Verdict)
	half := 4.302653 * 0.1 / math.Sqrt(3)
	require.InDelta(t, 0.5*math.Exp(half), o.High, 1e-6)
	o = judge(t, lower("x", "e", "", "error", nil, list("a", "b"), list("b")), results())
	require.Equal(t, Undecided, o.Verdict)
	require.Equal(t, 1.0, o.High)
}

func TestSides(t *testing.T) {
	between := Claim{Pairs: []Pair{{Side{"auc", "a", Where{"d": "5", "law": "MCAR"}}, Side{"auc", "a", Where{"d": "10", "law": "MCAR"}}}}, Want: Positive}
	o := judge(t, between, results())
	require.InDelta(t, 0.1, o.Mean, 1e-12) // (1, 2, 3)/10 − 1/10
	require.Equal(t, Undecided, o.Verdict)
	o = judge(t, alone("x", "e", "", "error", "a", Where{"law": "!MC*"}, Below(7.5)), results())
	require.Equal(t, 7.0, o.Mean)
	require.Equal(t, Holds, o.Verdict)
	require.Equal(t, DoesNotHold, judge(t, alone("x", "e", "", "error", "a", Where{"law": "!MC*"}, Within(6)), results()).Verdict)
}

func TestWholeReplicates(t *testing.T) {
	r := results()
	r.Lines[3][4] = "9 -"
	o := judge(t, lower("x", "e", "", "error", nil, list("a"), list("b")), r)
	require.Equal(t, NotMeasured, o.Verdict)
	_, err := lower("x", "e", "", "nothing", nil, list("a"), list("b")).Judge(r)
	require.ErrorContains(t, err, `claim x: there is no column "nothing"`)
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]float64{"3": 3, "4 3 2.5": 2.5, "true": 1, "false": 0} {
		x, ok := Number(text)
		require.True(t, ok)
		require.Equal(t, want, x)
	}
	for _, text := range []string{"", "-", "3 -", "NaN", "0:1 1:1", "R 4.2.2"} {
		_, ok := Number(text)
		require.False(t, ok, text)
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range append(Paper, Ours...) {
		require.False(t, seen[c.ID], c.ID)
		require.NotEmpty(t, c.Sentence)
		require.NotEmpty(t, c.Pairs)
		seen[c.ID] = true
	}
}

// Last errors 3 and 5, and a fit that diverged; the standard error of (3, 5) is 1.
func TestSummary(t *testing.T) {
	r := harness.Results{Key: []string{"law", "d", "replicate", "method"}, Columns: []string{"law", "d", "replicate", "method", "error", "version", "converged"}, Lines: [][]string{
		{"MCAR", "5", "1", "iw", "9 2 3", "R 4", "true"},
		{"MCAR", "5", "2", "iw", "9 4 5", "R 4", "false"},
		{"MCAR", "5", "3", "iw", "9 1 -", "R 4", "false"},
		{"MCAR", "5", "1", "em", "-", "R 4", "true"},
	}}
	require.Equal(t, [][]string{
		{"law=MCAR; d=5", "iw", "error", "4", "1", "2"},
		{"law=MCAR; d=5", "iw", "error, least", "2.3333", "0.88192", "3"},
		{"law=MCAR; d=5", "iw", "converged", "0.33333", "0.33333", "3"},
		{"law=MCAR; d=5", "em", "converged", "1", "", "1"},
	}, Summary(r))
}
