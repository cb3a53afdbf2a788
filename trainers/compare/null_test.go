package compare

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/regpath"
)

// kolmogorov is the largest distance of the distribution of p from the uniform one.
func kolmogorov(p []float64) (distance float64) {
	sorted := slices.Clone(p)
	slices.Sort(sorted)
	n := float64(len(p))
	for i, v := range sorted {
		distance = max(distance, v-float64(i)/n, float64(i+1)/n-v)
	}
	return distance
}

// By R 4.2.2's ks.test(c(.01, .2, .03, .5, .9, .33, .71), "punif").
func TestKolmogorovAgainstR(t *testing.T) {
	require.InDelta(t, 0.25571, kolmogorov([]float64{0.01, 0.2, 0.03, 0.5, 0.9, 0.33, 0.71}), 1e-5)
}

// slow asks for tests of minutes, as those of coverage are: MISSINGSCORE_SLOW=1.
func slow() bool { return os.Getenv("MISSINGSCORE_SLOW") != "" }

// Where the networks are equal, p values are uniform: the distance stays below the 0.1 %
// point of Kolmogorov's distribution, 1.95/√n, and what their steps of 1/(1 + N) add.
func TestEqualNetworks(t *testing.T) {
	pairs, c := 40, Config{Permutations: 39}
	if slow() {
		pairs, c.Permutations = 200, 99
	}
	var m, s, edge []float64
	for k := range pairs {
		c.Seed = uint64(k)
		r := compared(t, problem(t, chained(t, 40, 0.4, 0.3, 0, uint64(2*k)), chained(t, 60, 0.4, 0.3, 0, uint64(2*k+1)), unpenalised), c, 2)
		m, s, edge = append(m, r.Structure.P), append(s, r.Strength.P), append(edge, r.Pairs[0].P)
	}
	limit := 1.95/math.Sqrt(float64(pairs)) + 1/float64(1+c.Permutations)
	for name, p := range map[string][]float64{"M": m, "S": s, "first pair": edge} {
		t.Logf("%s: distance %.3f of at most %.3f", name, kolmogorov(p), limit)
		require.Less(t, kolmogorov(p), limit, name)
	}
}

// Networks chosen along a path from tables with gaps: ties make p values larger than uniform
// ones, never smaller. As many p ≤ 0.1 as a binomial count with that probability has.
func TestEqualSparseNetworks(t *testing.T) {
	if !slow() {
		t.Skip("takes minutes: MISSINGSCORE_SLOW=1 runs it")
	}
	sparse := func(*data.Table) trainers.Spec {
		return trainers.Spec{Steps: engine.Config{Method: "em-exact", Seed: 1}, Network: &regpath.Config{Lambdas: 12}}
	}
	const pairs, level = 100, 0.1
	var small [2]float64
	for k := range pairs {
		r := compared(t, problem(t, chained(t, 60, 0.4, 0.3, 0.2, uint64(2*k)), chained(t, 60, 0.4, 0.3, 0.2, uint64(2*k+1)), sparse), Config{Permutations: 39, Seed: uint64(k)}, 2)
		for i, p := range []float64{r.Structure.P, r.Strength.P} {
			if p <= level {
				small[i]++
			}
		}
	}
	t.Logf("p ≤ %v: M %v, S %v of %d", level, small[0], small[1], pairs)
	for _, n := range small {
		require.LessOrEqual(t, n, pairs*level+3*math.Sqrt(pairs*level*(1-level)))
	}
}

// An edge that one network lacks is found, and no other.
func TestOneChangedEdge(t *testing.T) {
	const pairs = 6
	found, wrong := 0, 0
	for k := range uint64(pairs) {
		r := compared(t, problem(t, chained(t, 150, 0.5, 0.3, 0, 2*k), chained(t, 150, 0, 0.3, 0, 2*k+1), unpenalised), Config{Permutations: 99, Seed: k}, 2)
		require.InDelta(t, 0.5, r.Pairs[0].Value, 4*math.Sqrt(2.0/150))
		for i, d := range r.Pairs {
			switch {
			case d.Q > 0.1:
			case i == 0:
				found++
			default:
				wrong++
			}
		}
		require.LessOrEqual(t, r.Structure.P, 0.05)
	}
	require.Equal(t, pairs, found)
	require.LessOrEqual(t, wrong, 3)
}
