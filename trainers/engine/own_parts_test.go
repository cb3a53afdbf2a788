package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/setting"
	"missingscore/losses"
	"missingscore/trainers/engine"
)

// An imputer of many levels of noise has none to be told where the objective adds none.
func TestImputerOfLevelsNeedsThem(t *testing.T) {
	config := engine.Config{Method: "var", Imputer: engine.ImputerSpec{Kind: "normal", Options: []byte(`{"noise_conditional":true}`)}}
	_, _, err := engine.Gradient(problem(60, losses.Classical{}), config, 0)
	var wrong *setting.Error
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, "imputer", wrong.Field)
}
