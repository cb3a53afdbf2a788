package moments

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"missingscore/data"
	"missingscore/internal/memory"
)

func gapped(n, d int, missing float64, seed uint64) (names []string, values []float64, observed []bool) {
	rng := rand.New(rand.NewPCG(seed, 1))
	names = strings.Split("abcdefgh", "")[:d]
	for range n {
		common := rng.NormFloat64()
		for j := range d {
			values = append(values, math.Pow(10, float64(j%5-2))*(rng.NormFloat64()+common)+float64(j*j))
			observed = append(observed, rng.Float64() >= missing)
		}
	}
	return names, values, observed
}

func taken(t require.TestingT, names []string, values []float64, observed []bool, pairs bool) *Moments {
	m, err := New(names, Options{NA: []string{"NA"}, Pairs: pairs})
	require.NoError(t, err)
	require.NoError(t, m.Add(values, observed))
	return m
}

func requireClose(t require.TestingT, want, got *Moments) {
	a, err := want.Table()
	b, err2 := got.Table()
	if err != nil {
		require.Equal(t, err, err2)
		return
	}
	require.NoError(t, err2)
	require.Equal(t, a.RowCount(), b.RowCount())
	require.Equal(t, a.Counted.Own, b.Counted.Own)
	require.InEpsilonSlice(t, a.Counted.Scale.Deviation, b.Counted.Scale.Deviation, 1e-12)
	for j, mean := range a.Counted.Scale.Mean {
		require.InDelta(t, mean, b.Counted.Scale.Mean[j], 1e-12*(math.Abs(mean)+a.Counted.Scale.Deviation[j]))
	}
	if want.OfPairs() {
		require.Equal(t, a.Counted.Pairs.Number, b.Counted.Pairs.Number)
		require.InDeltaSlice(t, a.Counted.Pairs.Cross, b.Counted.Pairs.Cross, 1e-12*float64(a.RowCount()))
		return
	}
	x, y := patternMoments(a), patternMoments(b)
	require.Len(t, y, len(x))
	for key := range x {
		require.InDeltaSlice(t, x[key], y[key], 1e-12*float64(a.RowCount()), key)
	}
}

// Also through files. Columns far from 0 lose no digits.
func TestMomentsDoNotDependOnOrderOrParts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.bin")
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 5).Draw(t, "d")
		n := rapid.SampledFrom([]int{1, 2, 7, 40, 700}).Draw(t, "n")
		pairs := rapid.Bool().Draw(t, "pairs")
		names, values, observed := gapped(n, d, rapid.SampledFrom([]float64{0, 0.3, 0.9}).Draw(t, "missing"), rapid.Uint64().Draw(t, "seed"))
		if rapid.Bool().Draw(t, "far") {
			for i := range values {
				values[i] += 1e8
			}
		}
		order := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 1)).Perm(n)
		parts := rapid.IntRange(1, 4).Draw(t, "parts")
		var merged *Moments
		for part := range parts {
			var x []float64
			var o []bool
			for at := part; at < n; at += parts {
				i := order[at]
				x, o = append(x, values[i*d:(i+1)*d]...), append(o, observed[i*d:(i+1)*d]...)
			}
			require.NoError(t, taken(t, names, x, o, pairs).Write(path))
			m, err := Read(path)
			require.NoError(t, err)
			if merged == nil {
				merged = m
				continue
			}
			require.NoError(t, m.Merge(merged))
			merged = m
		}
		requireClose(t, taken(t, names, values, observed, pairs), merged)
	})
}

func TestSumsDoNotDrift(t *testing.T) {
	s := newSums(1)
	for range 1_000_000 {
		s.plus(0, 1+1e-10)
	}
	require.InDelta(t, 1e6+1e-4, s.at(0, 0), 2e-10)
}

func TestSelect(t *testing.T) {
	names, values, observed := gapped(900, 5, 0.4, 3)
	rows, err := data.NewTable(names, values, observed)
	require.NoError(t, err)
	some, err := rows.Select([]string{"d", "a", "e"})
	require.NoError(t, err)
	m := taken(t, names, values, observed, false)
	got, err := m.Select(some.Names)
	require.NoError(t, err)
	requireClose(t, taken(t, some.Names, some.Values, some.Observed, false), got)
	_, err = m.Select([]string{"x"})
	require.EqualError(t, err, `no column "x"; there are: a, b, c, d, e`)
	_, err = m.Select([]string{"a", "a"})
	require.Error(t, err)
}

// The second table has two patterns with collinear columns, and a constant where d is missing.
func TestTableHasTheMomentsOfTheRows(t *testing.T) {
	names, values, observed := gapped(3000, 4, 0.25, 5)
	for i := range values { // one pattern of few rows, one whose columns are the same
		if i/4 < 3 {
			observed[i] = i%4 == 2
		}
	}
	rng := rand.New(rand.NewPCG(7, 1))
	var dependent []float64
	var seen []bool
	for i := range 400 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		if i%2 == 0 {
			dependent, seen = append(dependent, a, b, 3, 0), append(seen, true, true, true, false)
			continue
		}
		dependent, seen = append(dependent, a, b, a+b, a-2*b), append(seen, true, true, true, true)
	}
	for _, c := range []struct {
		values    []float64
		observed  []bool
		tolerance float64
	}{{values, observed, 1e-8}, {dependent, seen, 1e-7}} {
		rows, err := data.NewTable(names, c.values, c.observed)
		require.NoError(t, err)
		z, scale := data.Standardise(rows)
		got, err := taken(t, names, c.values, c.observed, false).Table()
		require.NoError(t, err)
		requireCounts(t, rows, got)
		require.InEpsilonSlice(t, scale.Mean, got.Counted.Scale.Mean, 1e-12)
		require.InEpsilonSlice(t, scale.Deviation, got.Counted.Scale.Deviation, 1e-12)
		require.Equal(t, rows.Missing()-4*(rows.N-got.RowCount()), got.Missing())
		require.Less(t, got.N, 100)
		want, have := patternMoments(z), patternMoments(got)
		delete(want, "0000")
		require.Len(t, have, len(want))
		for key, m := range want {
			require.InDeltaSlice(t, m, have[key], c.tolerance, key)
		}
	}
}

func requireCounts(t *testing.T, rows, got *data.Table) {
	t.Helper()
	require.Equal(t, rows.PairCounts(), got.PairCounts())
	for j := range rows.D {
		require.Equal(t, rows.ObservedIn(j), got.ObservedIn(j))
	}
}

func patternMoments(t *data.Table) map[string][]float64 {
	out := map[string][]float64{}
	for i := range t.N {
		key := make([]byte, t.D)
		row := append([]float64{1}, t.Values[i*t.D:(i+1)*t.D]...)
		for j, seen := range t.Observed[i*t.D : (i+1)*t.D] {
			if key[j] = '0'; seen {
				key[j] = '1'
			} else {
				row[j+1] = 0
			}
		}
		m := out[string(key)]
		if m == nil {
			m = make([]float64, len(row)*len(row))
		}
		for j, x := range row {
			for k, y := range row {
				m[j*len(row)+k] += t.Count(i) * x * y
			}
		}
		out[string(key)] = m
	}
	return out
}

func TestPairs(t *testing.T) {
	names, values, observed := gapped(600, 4, 0.4, 11)
	got, err := taken(t, names, values, observed, true).Table()
	require.NoError(t, err)
	require.Zero(t, got.N)
	rows, err := data.NewTable(names, values, observed)
	require.NoError(t, err)
	z, _ := data.Standardise(rows)
	want := z.PairSums()
	require.InDeltaSlice(t, want.Cross, got.Counted.Pairs.Cross, 1e-9)
	require.Equal(t, want.Number, got.Counted.Pairs.Number)
	requireCounts(t, rows, got)
}

func TestRefusals(t *testing.T) {
	names, values, observed := gapped(30, 3, 0.2, 1)
	m := taken(t, names, values, observed, false)
	for _, c := range []struct {
		names []string
		pairs bool
		why   string
	}{
		{[]string{"a", "b"}, false, `only one of the two has column "c"`},
		{[]string{"a", "b", "x"}, false, `only one of the two has column "c"; the other has "x" instead`},
		{[]string{"a", "c", "b"}, false, `the columns are in a different order: column 2 is "b" in one and "c" in the other`},
		{[]string{"a", "b", "c", "d"}, false, `only one of the two has column "d"`},
		{[]string{"a", "b", "c"}, true, "one has moments of pairs (moments.Options.Pairs), the other of missing-data patterns: compute both in the same way"},
	} {
		other, err := New(c.names, Options{Pairs: c.pairs})
		require.NoError(t, err)
		require.EqualError(t, m.Merge(other), c.why)
	}
	_, err := New([]string{"a", "a"}, Options{})
	require.Error(t, err)
	for text, x := range map[string]float64{"NaN": math.NaN(), "+Inf": math.Inf(1), "2e+150": 2e150} {
		other, err := New([]string{"a", "b"}, Options{})
		require.NoError(t, err)
		require.EqualError(t, other.Add([]float64{1, 2, 3, x}, []bool{true, true, true, true}), `row 2: column "b": `+text+" must be finite, with size up to 1e+150")
	}
	constant := taken(t, []string{"a", "b"}, []float64{1, 2, 1, 3}, []bool{true, true, true, true}, false)
	_, err = constant.Table()
	require.EqualError(t, err, `column "a": constant, every observed value is 1`)
	empty := taken(t, []string{"a", "b"}, []float64{1, 2, 2, 3}, []bool{true, false, true, false}, false)
	_, err = empty.Table()
	require.EqualError(t, err, `column "b": no observed value`)

	path := filepath.Join(t.TempDir(), "m.bin")
	require.NoError(t, empty.Write(path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	text[len(text)-1]++
	require.NoError(t, os.WriteFile(path, text, 0o600))
	_, err = Read(path)
	require.EqualError(t, err, path+": the file is damaged, or not a file of moments: run missingscore moments again")
}

func TestMemory(t *testing.T) {
	t.Setenv(memory.Variable, "40kB")
	var names []string
	for j := range 70 {
		names = append(names, fmt.Sprint("x", j))
	}
	_, err := New(names[:20], Options{})
	require.NoError(t, err)
	_, err = New(names[:40], Options{Pairs: true})
	require.ErrorContains(t, err, "sums of products of 40 columns needs about")
	_, err = New(names, Options{})
	require.ErrorContains(t, err, "sums of products of 70 columns needs about")
	names, values, observed := gapped(20_000, 8, 0.5, 1)
	m, err := New(names, Options{})
	require.NoError(t, err)
	require.ErrorContains(t, m.Add(values, observed), "missing-data patterns needs about")
}
