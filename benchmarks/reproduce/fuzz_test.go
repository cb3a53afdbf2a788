package reproduce

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
	"missingscore/internal/fuzztest"
)

// Whatever the settings of an experiment are, which stand behind its name, make a grid of cells or
// are refused.
func FuzzGrid(f *testing.F) {
	var own, others []string
	for _, e := range Experiments {
		for _, size := range []string{"full", "smoke"} {
			settings, err := e.SettingsOf(size)
			require.NoError(f, err)
			own = append(own, e.Name+"\n"+string(settings))
		}
		others = append(others, e.Name+"\n{}", e.Name+"\nnull")
	}
	fuzztest.Reader[cells.Grid]{
		Read: func(text string) (g cells.Grid, err error) {
			name, settings, _ := strings.Cut(text, "\n")
			chosen, err := ByName([]string{name})
			if err != nil {
				return g, err
			}
			if !json.Valid([]byte(settings)) { // what is not JSON comes no further than the harness
				settings = "{}"
			}
			if g, err = chosen[0].Grid(json.RawMessage(settings), 2); err != nil {
				return g, err
			}
			return g, g.Check()
		},
		Check: func(t testing.TB, text string, g cells.Grid) {
			for _, c := range g.Cells {
				require.Len(t, c.Key, len(g.Key), "%q", text)
			}
		},
		Accepts: own,
		Refuses: []string{"", "none\n{}", "normal\n", "normal\n{\"epochs\":-1}"},
		Others:  others,
	}.Fuzz(f)
}
