package trainers

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/data"
	"missingscore/internal/stream"
	"missingscore/trainers/regpath"
)

// mixedTable are n rows of numbers x and w, a nominal column "home" of three levels, a binary "sex", and
// ordered "grade" of four, whose latent numbers make a chain x – home – sex – w – grade; a share of the
// cells is missing completely at random. order are the numbers that the levels of home have.
func mixedTable(t *testing.T, n int, missing float64, order [3]int) *data.Table {
	t.Helper()
	p := mat.NewSymDense(6, nil) // x, home: town, home: city, sex, w, grade
	for j := range 6 {
		p.SetSym(j, j, 1)
	}
	p.SetSym(0, 1, -0.45)
	p.SetSym(0, 2, 0.2)
	p.SetSym(1, 2, -0.1)
	p.SetSym(2, 3, -0.5)
	p.SetSym(3, 4, 0.4)
	p.SetSym(4, 5, -0.45)
	rng := stream.New(3, 1)
	normal, ok := distmv.NewNormalPrecision(make([]float64, 6), p, rng)
	require.True(t, ok)
	names := []string{"village", "town", "city"}
	levels := make([]string, 3)
	for k, at := range order {
		levels[at] = names[k]
	}
	var values []float64
	var observed []bool
	for range n {
		z := normal.Rand(nil)
		home := 0
		if z[1] > 0 && z[1] > z[2] {
			home = 1
		} else if z[2] > 0 {
			home = 2
		}
		sex, grade := 0., 0.
		if z[3] > 0.3 {
			sex = 1
		}
		for _, cut := range []float64{-0.8, 0, 0.9} {
			if z[5] > cut {
				grade++
			}
		}
		values = append(values, z[0], float64(order[home]), sex, 10+3*z[4], grade)
		for range 5 {
			observed = append(observed, rng.Float64() >= missing)
		}
	}
	table, err := data.NewTable([]string{"x", "home", "sex", "w", "grade"}, values, observed)
	require.NoError(t, err)
	table.Kinds = []data.Kind{data.Number, data.Nominal, data.Binary, data.Number, data.Ordered}
	table.Levels = [][]string{nil, levels, {"f", "m"}, nil, {"low", "some", "good", "best"}}
	return table
}

func TestNetworkOfLevels(t *testing.T) {
	table := mixedTable(t, 800, 0.1, [3]int{0, 1, 2})
	r, err := Estimate(t.Context(), table, Spec{Network: &regpath.Config{}}, Run{})
	require.NoError(t, err)
	require.Equal(t, "em-latent", r.Spec.Steps.Method)
	t.Log(r.Verdict, r.Warnings)
	for _, e := range r.Network.Edges() {
		t.Log(e.From, e.To, e.PartialCorrelation, e.Unsigned, e.Together)
	}
	_ = math.Pi
}
