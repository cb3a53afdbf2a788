package extension_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/extension"

	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/losses"
)

func TestOptionsAreKept(t *testing.T) {
	made, err := model.Models["student"](3, []byte(`{"freedom":7}`), nil)
	require.NoError(t, err)
	require.Equal(t, 7., made.(extension.Student).Freedom)
	text, err := json.Marshal(made.(model.Configured).Options())
	require.NoError(t, err)
	again, err := model.Models["student"](3, text, nil)
	require.NoError(t, err)
	require.Equal(t, 7., again.(extension.Student).Freedom)
	plain, err := model.Models["student"](3, nil, nil)
	require.NoError(t, err)
	require.Equal(t, 4., plain.(extension.Student).Freedom)
	_, err = model.Models["student"](3, []byte(`{`), nil)
	require.Error(t, err)
}

func TestColumnsRefuseBounds(t *testing.T) {
	s := losses.ObjectiveSetting{Dim: 2, Names: []string{"a", "b"}, Options: []byte(`{"weights":[1,2]}`)}
	_, err := losses.Objectives["columns"](s)
	require.NoError(t, err)
	s.Domain = domain.All(2)
	s.Domain.Lower[0] = 0
	_, err = losses.Objectives["columns"](s)
	require.ErrorContains(t, err, "without bounds")
}
