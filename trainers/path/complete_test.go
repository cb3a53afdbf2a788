package path

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
)

// completedMoments are mean and covariances, n in the denominator, of the rows completed by
// a normal distribution's conditional: of missing cells m given those observed the mean is
// μ_m − P_mm⁻¹ P_mo (x_o − μ_o), the covariance P_mm⁻¹.
func completedMoments(t *testing.T, table *data.Table, mu []float64, p *mat.SymDense) (mean []float64, s *mat.SymDense) {
	t.Helper()
	d := table.D
	mean, s = make([]float64, d), mat.NewSymDense(d, nil)
	rows := mat.NewDense(table.N, d, nil)
	for i := range table.N {
		var gone []int
		row := rows.RawRowView(i)
		for j := range d {
			if row[j] = table.Values[i*d+j]; !table.Observed[i*d+j] {
				gone, row[j] = append(gone, j), mu[j]
			}
		}
		if len(gone) > 0 {
			block, pull := mat.NewDense(len(gone), len(gone), nil), mat.NewVecDense(len(gone), nil)
			for a, j := range gone {
				for b, k := range gone {
					block.Set(a, b, p.At(j, k))
				}
				for k := range d {
					pull.SetVec(a, pull.AtVec(a)-p.At(j, k)*(row[k]-mu[k]))
				}
			}
			var inverse mat.Dense
			require.NoError(t, inverse.Inverse(block))
			var shift mat.VecDense
			shift.MulVec(&inverse, pull)
			for a, j := range gone {
				row[j] += shift.AtVec(a)
				for b, k := range gone {
					if k >= j {
						s.SetSym(j, k, s.At(j, k)+inverse.At(a, b)/float64(table.N))
					}
				}
			}
		}
		for j := range d {
			mean[j] += row[j] / float64(table.N)
		}
	}
	for i := range table.N {
		for j := range d {
			for k := j; k < d; k++ {
				s.SetSym(j, k, s.At(j, k)+(rows.At(i, j)-mean[j])*(rows.At(i, k)-mean[k])/float64(table.N))
			}
		}
	}
	return mean, s
}
