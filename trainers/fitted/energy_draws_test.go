package fitted_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/nets"
	"missingscore/trainers/fitted"
)

func bumpy(t testing.TB) *fitted.Model {
	m := testtables.Must(nets.NewEnergy(3, nets.NetworkOptions{Hidden: []int{8}}, stream.New(3)))
	for _, p := range m.Params()[:3] { // weights, biases and output
		for i := range p.Value {
			p.Value[i] *= 6
		}
	}
	return &fitted.Model{Names: []string{"a", "b", "c"}, Model: m, Scale: data.Scale{Mean: []float64{4, 4, 4}, Deviation: []float64{2, 2, 2}}}
}

// Rectangle rule in the table's units: means, and the product of the first and the last.
func onGrid(t testing.TB, f *fitted.Model, row []float64) (mean, sd []float64, product float64) {
	gaps, _, _ := split(row)
	const size, reach = 241, 6.0
	var z []float64
	columns := make([][]float64, len(gaps))
	for i := range int(math.Pow(size, float64(len(gaps)))) {
		at := slices.Clone(row)
		for j, v := range row {
			at[j] = (v - f.Scale.Mean[j]) / f.Scale.Deviation[j]
		}
		for k, j := range gaps {
			at[j] = -reach + 2*reach*float64(i%size)/(size-1)
			columns[k] = append(columns[k], f.Scale.Mean[j]+f.Scale.Deviation[j]*at[j])
			i /= size
		}
		z = append(z, at...)
	}
	e := testtables.Must(model.NewEvaluator(f.Model, len(columns[0]), false))
	log, _, err := e.At(z)
	require.NoError(t, err)
	weight := make([]float64, len(log))
	for i := range weight {
		weight[i] = math.Exp(log[i] - log[len(log)/2])
	}
	for k, x := range columns {
		mean = append(mean, stat.Mean(x, weight))
		sd = append(sd, math.Sqrt(stat.MomentAbout(2, x, mean[k], weight)))
	}
	for i := range weight {
		product += weight[i] * columns[0][i] * columns[len(gaps)-1][i]
	}
	return mean, sd, product / floats.Sum(weight)
}

// Moments by quadrature, for any number of workers.
func TestImputeEnergy(t *testing.T) {
	f := bumpy(t)
	rows := [][]float64{{3, 5, nan}, {nan, 6, nan}, {2, nan, 4.5}, {nan, nan, 3}}
	const draws = 1600
	c := fitted.ImputeConfig{Draws: draws, Seed: 5, Workers: 2}
	r := impute(t, f, table(f.Names, rows...), c)
	require.True(t, r.Mixing.Converged())
	for i, row := range rows {
		gaps, _, _ := split(row)
		mean, sd, product := onGrid(t, f, row)
		n := min(draws, r.Mixing.Size[i])
		var first, last, products []float64
		for k := range draws {
			own := r.Values[(i*draws+k)*3:][:3]
			first, last = append(first, own[gaps[0]]), append(last, own[gaps[len(gaps)-1]])
			products = append(products, first[k]*last[k])
		}
		require.InDelta(t, mean[0], stat.Mean(first, nil), 4.5*sd[0]/math.Sqrt(n), "row %d", i)
		require.InDelta(t, mean[len(mean)-1], stat.Mean(last, nil), 4.5*sd[len(sd)-1]/math.Sqrt(n), "row %d", i)
		require.InDelta(t, product, stat.Mean(products, nil), 4.5*stat.StdDev(products, nil)/math.Sqrt(n), "row %d", i)
		require.InEpsilon(t, sd[0], stat.StdDev(first, nil), 4.5/math.Sqrt(n), "row %d", i)
	}
}

func TestPointByDraws(t *testing.T) {
	f := bumpy(t)
	for _, row := range [][]float64{{3, 5, nan}, {nan, 6, nan}} {
		r, err := fitted.Point(t.Context(), f, table(f.Names, row), fitted.ImputeConfig{Seed: 3})
		require.NoError(t, err)
		require.Equal(t, fitted.PointDraws, r.Draws)
		mean, _, _ := onGrid(t, f, row)
		gaps, _, _ := split(row)
		for a, j := range gaps {
			require.InDelta(t, mean[a], r.Values[j], 4.5*r.Error[j])
		}
	}
}
