package trainers_test

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/memory"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/inference"
	"missingscore/trainers/internal/testtables"
	"missingscore/trainers/regpath"
)

// What is too large is refused before it is made: hardly anything is allocated for it.
func TestMemoryIsCheckedFirst(t *testing.T) {
	t.Setenv(memory.Variable, "2GB")
	const d = 100_000
	wide := &data.Table{N: 4, D: d}
	for j := range d {
		wide.Names = append(wide.Names, "x"+strings.Repeat("y", j%7))
	}
	wide.Values, wide.Observed = make([]float64, 4*d), slices.Repeat([]bool{true}, 4*d)
	_, narrow := testtables.Star(t, 3, 50, 0.2)
	for name, c := range map[string]struct {
		table *data.Table
		spec  trainers.Spec
		want  string
	}{
		"network":  {wide, trainers.Spec{Network: &regpath.Config{Lambdas: 100}}, "model gaussian: a matrix of 100000 columns needs about 40 GB of memory, and 2 GB can be used: take fewer columns"},
		"gaussian": {wide, trainers.Spec{}, "a matrix of 100000 columns needs about 40 GB"},
		"quartic":  {wide, trainers.Spec{Model: trainers.ModelSpec{Kind: "quartic"}}, "a matrix of 100000 columns needs about 40 GB"},
		"energy": {narrow, trainers.Spec{Model: trainers.ModelSpec{Kind: "energy", Options: []byte(`{"hidden":[10000,10000,10000,10000,10000]}`)}},
			"a network of 5 hidden layers for 3 columns needs about 3.2 GB"},
		"path": {narrow, trainers.Spec{Network: &regpath.Config{Lambdas: 1 << 30}}, "a network of 3 columns from 50 rows along 1.073741824e+09 λ needs about"},
		"resamples": {narrow, trainers.Spec{Network: &regpath.Config{}, Inference: inference.Config{Kind: "bootstrap", Resamples: 1 << 30}},
			"1073741824 resamples of a network of 3 columns from 50 rows needs about"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := trainers.Prepare(c.table, c.spec)
		runtime.ReadMemStats(&after)
		var large *memory.Error
		require.ErrorAs(t, err, &large, name)
		require.ErrorContains(t, err, c.want)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(50e6), name)
	}
}

// Of moments of many columns half is held where the whole does not fit, and what does not fit by
// half either is refused; selections by resampling hold moments for each worker.
func TestMemoryOfMoments(t *testing.T) {
	const d = 3000
	table := &data.Table{N: 4, D: d, Observed: slices.Repeat([]bool{true}, 4*d)}
	for j := range d {
		table.Names = append(table.Names, strconv.Itoa(j))
	}
	for i := range 4 * d {
		table.Values = append(table.Values, float64(i*i%17))
	}
	for _, c := range []struct{ limit, choice, want string }{
		{"200MB", "", ""},
		{"120MB", "", ""},
		{"110MB", "", "a network of 3000 columns from 4 rows along 5 λ needs about 114 MB of memory, and 110 MB can be used"}, // 60 MB + 8·(4·4·3000 + 0.75·3000²)
		{"400MB", "stars", "needs about 471 MB"}, // 60 MB + 8·(4·4·3000 + (1.2 + 2 + 2.5)·3000²)
	} {
		t.Setenv(memory.Variable, c.limit)
		s := trainers.Spec{Steps: engine.Config{Method: "pairwise"}, Network: &regpath.Config{Lambdas: 5, Select: regpath.Selection{Kind: c.choice}}}
		_, err := trainers.Prepare(table, s)
		if c.want == "" {
			require.NoError(t, err, c.limit)
			continue
		}
		require.ErrorContains(t, err, c.want)
	}
}

// Later rows count a third by methods in closed form, which keep nothing for each of them.
func TestManyRowsTakeLess(t *testing.T) {
	const n, d = 200_000, 5
	long := &data.Table{Names: []string{"a", "b", "c", "d", "e"}, N: n, D: d, Values: make([]float64, n*d), Observed: slices.Repeat([]bool{true}, n*d)}
	for i := range long.Values {
		long.Values[i] = float64(i * i % 17)
	}
	for i := 0; i < len(long.Observed); i += 2 {
		long.Observed[i] = false
	}
	for _, c := range []struct{ method, limit, want string }{
		{"em-exact", "70MB", ""},
		{"exact", "70MB", ""},
		{"em-exact", "55MB", "a network of 5 columns from 200000 rows along 3 λ needs about 64 MB"}, // 8·5·(12·10⁵ + 4·10⁵)
		{"pairwise", "55MB", "needs about 64 MB"},
		{"var", "80MB", "needs about 96 MB"},        // 8·5·12·2·10⁵
		{"em-chains", "80MB", "needs about 216 MB"}, // and 8·3·10·5·10⁵ for ten chains in half of the cells
	} {
		t.Setenv(memory.Variable, c.limit)
		s := trainers.Spec{Network: &regpath.Config{Lambdas: 3}}
		s.Steps.Method = c.method
		_, err := trainers.Prepare(long, s)
		if c.want == "" {
			require.NoError(t, err, c.method)
			continue
		}
		require.ErrorContains(t, err, c.want, c.method)
	}
}
