package optim

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// of finds the smallest eigenvalue that gonum's decomposition finds: of few columns and many,
// where it stands apart and where it does not, of zeros, and of a matrix of blocks whose
// smallest belongs to one the start hardly sees.
func TestSmallest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var l smallest
	for _, d := range []int{1, 2, leastLanczos - 1, leastLanczos, 40, 90} {
		for name, fill := range map[string]func(j, k int) float64{
			"noise":     func(j, k int) float64 { return rng.NormFloat64() },
			"one apart": func(j, k int) float64 { return rng.NormFloat64()/float64(10*d) - 1 },
			"zeros":     func(j, k int) float64 { return 0 },
			"diagonal":  func(j, k int) float64 { return map[bool]float64{true: 1 / float64(j+1), false: 0}[j == k] },
			"two alike": func(j, k int) float64 { return map[bool]float64{true: -3, false: 0}[j == k && j < 2] },
			"blocks": func(j, k int) float64 {
				if j == 0 || k == 0 {
					return map[bool]float64{true: -5, false: 0}[j == k]
				}
				return rng.NormFloat64() / 100
			},
		} {
			s := make([]float64, d*d)
			for j := range d {
				for k := range j + 1 {
					s[j*d+k] = fill(j, k)
					s[k*d+j] = s[j*d+k]
				}
			}
			require.InDelta(t, leastEigenvalue(t, mat.NewSymDense(d, append([]float64(nil), s...))), l.of(s, d), 1e-12*float64(d), "%s, %d columns", name, d)
		}
	}
}

// An eigenvalue that the start does not see is noticed by the factor.
func TestNoneBelow(t *testing.T) {
	d := 30
	s := make([]float64, d*d)
	for j := range d {
		s[j*d+j] = float64(j%3) / 10
	}
	s[7*d+7] = -1
	var l smallest
	theta, ok := l.lanczos(s, d)
	require.True(t, ok)
	require.InDelta(t, -1, theta, 1e-12)
	require.True(t, l.noneBelow(s, d, -1-1e-9))
	require.False(t, l.noneBelow(s, d, -1+1e-9))
	require.False(t, l.noneBelow(s, d, 0), "what would be taken for the smallest if column 8 were not seen")
}
