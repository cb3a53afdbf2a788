package inference_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/data/mcar"
	"missingscore/internal/trainers/inference"
)

// Gaps depend on other columns if one corrected test rejects.
func TestDepends(t *testing.T) {
	tests := []mcar.Column{{P: 0.001, Corrected: 0.06}, {P: 0.5, Corrected: 0.5}}
	p := inference.Problem{GapTests: func() []mcar.Column { return tests }}
	require.False(t, p.Depends())
	tests[1].Corrected = 0.01
	require.True(t, p.Depends())
}
