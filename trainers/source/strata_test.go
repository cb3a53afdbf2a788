package source_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/nets"
	"missingscore/trainers/source"
)

// Two narrow normals around −1 and 2, the second with weight π.
type twoPoints struct {
	d      int
	logits *graph.Param
}

const narrow = 0.1

func (m twoPoints) Params() []*graph.Param { return []*graph.Param{m.logits} }
func (m twoPoints) Options() any           { return nil }
func (m twoPoints) Noise() int             { return m.d }

func (m twoPoints) Draw(b *graph.Builder, rows nets.ImputerRows, noise graph.Node) nets.Strata {
	n, _ := graph.Shape(rows.X)
	means := make([]float64, 0, 2*m.d)
	for _, v := range []float64{-1, 2} {
		for range m.d {
			means = append(means, v)
		}
	}
	x := b.Add(graph.Tile(b, b.Constant(2, m.d, means), n), b.Scale(narrow, b.GroupRepeat(noise, 2)))
	logits := graph.Tile(b, b.Param(m.logits), n)
	weight := b.Sub(logits, b.GroupRepeat(graph.GroupLogSumExp(b, logits, 2), 2))
	// 30 deviations apart: the other density is 0
	z := b.RowSum(b.Prod(b.GroupRepeat(b.Map(graph.Complement, rows.Mask), 2), b.Scale(-0.5, b.Map(graph.Square, b.GroupRepeat(noise, 2)))))
	return nets.Strata{K: 2, X: x, LogDensity: b.Add(weight, z), LogWeight: weight}
}

func TestStrataDraws(t *testing.T) {
	const d, n, r = 3, 4, 4000
	imp := twoPoints{d, graph.NewParam("logits", 2, 1)}
	imp.logits.Value[1] = math.Log(0.3 / 0.7)
	setting := source.Setting{Model: model.NewGaussian(d, model.CholeskyFactor), Imputer: imp, Batch: n, Draws: r}
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
			require.InDelta(t, math.Log(share)-0.5*(u*u+v*v), log[k], 1e-9)
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
