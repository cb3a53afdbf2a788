package missingness

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// By hand: the inverse of (2 1; 1 2) is (2 −1; −1 2)/3.
func TestQuantities(t *testing.T) {
	q, err := quantities([]float64{4, 5}, mat.NewSymDense(2, []float64{2, 1, 1, 2}))
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{4, 2. / 3, 2, 1}, q, 1e-12)
	_, err = quantities([]float64{0}, mat.NewSymDense(1, []float64{-1}))
	require.EqualError(t, err, "the precision is not positive definite")
}

func TestSettingsThatAreRefused(t *testing.T) {
	text, err := Experiment.SettingsOf("smoke")
	require.NoError(t, err)
	for _, c := range [][3]string{
		{`"precision":[[0.8]]`, `"precision":[[0.8,1]]`, "settings: self-masked, d = 1: the precision is not 1 × 1"},
		{`"methods":["iw","var"]`, `"methods":[]`, "settings: self-masked, d = 1: one or two columns, something to tell and a method are needed"},
		{`"methods":["iw","var"]`, `"methods":["vae"]`, `no method "vae"`},
		{`"rate":0.05`, `"rate":0`, "settings: rate: 0: it must be positive"},
		{`"law":{"logistic":{"x1"`, `"law":{"logistic":{"x9"`, "x9"},
	} {
		bad := strings.Replace(string(text), c[0], c[1], 1)
		require.NotEqual(t, string(text), bad)
		_, err := grid([]byte(bad), 1)
		require.ErrorContains(t, err, c[2])
	}
}
