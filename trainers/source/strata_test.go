package source_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/nets"
	"missingscore/trainers/source"
)

const narrow = 0.1

// twoPoints is a mixture imputer of narrow normals around −1 and, with weight 0.3, around 2.
func twoPoints(d int) nets.Imputer {
	m := nets.NewMixtureImputer(d, nets.MixtureOptions{Components: 2, Hidden: 1}, stream.New(1))
	for _, p := range m.Params() {
		clear(p.Value)
		switch p.Name {
		case "means bias":
			copy(p.Value, slices.Concat(slices.Repeat([]float64{-1}, d), slices.Repeat([]float64{2}, d)))
		case "log sds bias":
			log := 5 * math.Atanh(math.Log(narrow)/5) // σ is exp(5 tanh(bias/5))
			copy(p.Value, slices.Repeat([]float64{log}, 2*d))
		case "logits bias":
			p.Value[1] = math.Log(0.3 / 0.7)
		}
	}
	return m
}

func TestStrataDraws(t *testing.T) {
	const d, n, r = 3, 4, 4000
	m := model.NewGaussian(d, model.CholeskyFactor)
	setting := source.Setting{Model: m, Imputer: twoPoints(d), Batch: n, Draws: r}
	s, err := source.Imputer.New(setting)
	require.NoError(t, err)
	b := data.NewBatch(n, d)
	b.Rows = append(b.Rows, 0, 1, 2) // the fourth is padding
	for i := range 3 {
		b.X[i*d], b.Mask[i*d] = float64(10+i), 1
	}
	complete := func() (x, log []float64) {
		x, log = make([]float64, n*r*d), make([]float64, n*r)
		require.NoError(t, s.Complete(b, x, log, new(source.Stream).At(1, stream.Impute)))
		return x, log
	}
	x, log := complete()
	for i := range 3 {
		var second, within []float64
		for k := i * r; k < (i+1)*r; k++ {
			row := x[k*d : k*d+d]
			require.Equal(t, b.X[i*d], row[0])
			mean, share, is := -1.0, 0.7, 0.0
			if row[1] > 0.5 {
				mean, share, is = 2, 0.3, 1
			}
			u, v := (row[1]-mean)/narrow, (row[2]-mean)/narrow
			require.InDelta(t, math.Log(share/narrow/narrow)-0.5*(u*u+v*v), log[k], 1e-9)
			second, within = append(second, is), append(within, u, v)
		}
		require.InDelta(t, 0.3, stat.Mean(second, nil), 4*math.Sqrt(0.21/r))
		require.InDelta(t, 0, stat.Mean(within, nil), 4/math.Sqrt(2*r))
		require.InDelta(t, 1, stat.StdDev(within, nil), 4/math.Sqrt(4*r))
	}
	require.Equal(t, make([]float64, r*d), x[3*r*d:])
	again, _ := complete()
	require.Equal(t, x, again)

	setting.Domain = domain.All(d)
	setting.Domain.Lower[0] = 0
	_, err = source.Imputer.New(setting)
	require.ErrorContains(t, err, "this imputer cannot be restricted to a domain with a boundary")
}
