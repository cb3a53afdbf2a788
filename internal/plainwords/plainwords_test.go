package plainwords_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/plainwords"
)

func TestUnknown(t *testing.T) {
	require.Empty(t, plainwords.Unknown("domain.json: t.csv:3: column \"b\": \"x\" is not a number; correct the cell"))
	require.Equal(t, " json: ", plainwords.Unknown("model.json: json: cannot unmarshal string"))
	require.Equal(t, "%!", plainwords.Unknown("3 %!d(string=x) of 7"))
	require.Equal(t, "int64", plainwords.Unknown("a number of int64"))
	require.Empty(t, plainwords.Unknown("options %!: not JSON from its character 1 on", "t.csv", "%!"), "as it was given")
	require.Equal(t, "runtime error", plainwords.Unknown("options %!: runtime error", "%!"))
}
