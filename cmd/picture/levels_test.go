package picture

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/data/network"
)

func TestLevelsText(t *testing.T) {
	n := &network.Network{
		Nodes:  []string{"sex", "height", "hand", "site", "ill"},
		Levels: [][]string{{"f", "m"}, nil, {"left", "right"}, {"a", "b", "c"}, {"0", "1"}},
		Edges:  []network.Edge{{From: "sex", To: "height"}, {From: "hand", To: "site", Unsigned: true}, {From: "height", To: "ill"}},
	}
	require.Equal(t, "positive: more of sex = m", LevelsText(n))
	n.Edges = n.Edges[1:]
	require.Empty(t, LevelsText(n))
}
