package nets_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/nets"
)

// Model files of before name an option otherwise; they are still read.
func TestOldOptionsAreRead(t *testing.T) {
	m, err := model.New("energy", 2, []byte(`{"hidden":[3],"levelled":true}`), stream.New(1))
	require.NoError(t, err)
	require.Implements(t, (*model.NoiseConditional)(nil), m)
	i, err := nets.NewImputer("normal", 2, []byte(`{"hidden":3,"levelled":true}`), stream.New(1))
	require.NoError(t, err)
	require.True(t, i.(nets.NormalConditional).NoiseConditional())
	_, err = model.New("energy", 2, []byte(`{"layers":3}`), stream.New(1))
	require.ErrorContains(t, err, `unknown field "layers"`)
}
