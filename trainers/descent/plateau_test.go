package descent

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A plateau begins anew where the loss falls by more than its rounding, however slowly it
// comes to that, or the gradient by half, and keeps the point of the least gradient among
// losses that are alike.
func TestPlateau(t *testing.T) {
	var p Plateau
	at := func(v float64) []float64 { return []float64{v} }
	p.note(at(1), 10, 1e-3, 1)
	require.Equal(t, Plateau{Loss: 10, Least: 1, At: at(1)}, p)
	p.note(at(2), 10+2e-4, 1e-3, 0.8)
	p.note(at(3), 10-2e-4, 1e-3, 0.9)
	require.Equal(t, Plateau{Count: 2, Loss: 10, Least: 0.8, At: at(2)}, p)
	p.note(at(4), 10, 1e-3, 0.39)
	require.Equal(t, Plateau{Loss: 10, Least: 0.39, At: at(4)}, p, "the gradient fell by half")
	p.note(at(5), 10-8e-4, 1e-3, 0.5)
	p.note(at(6), 10-1.1e-3, 1e-3, 2)
	require.Equal(t, Plateau{Loss: 10 - 1.1e-3, Least: 2, At: at(6)}, p, "the loss fell, in two steps, by more than its rounding")
	for range plateauIterations {
		require.False(t, p.reached())
		p.note(at(7), 10, 1e-3, 2)
	}
	require.True(t, p.reached())
	require.Equal(t, at(6), p.At)
}
