package harness

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
	"missingscore/internal/fuzztest"
)

// Whatever a file of an experiment's settings holds (--config) makes a grid, and a run.json that is
// read again, or is refused.
func FuzzSettings(f *testing.F) {
	e := counted(new(atomic.Int32), "")
	dir := f.TempDir()
	fuzztest.Reader[cells.Grid]{
		Read: func(text string) (g cells.Grid, err error) {
			m, err := newManifest(e, Options{Config: []byte(text)})
			if err != nil {
				return g, err
			}
			if g, err = m.grid(e); err != nil {
				return g, err
			}
			if err := m.write(dir); err != nil {
				return g, err
			}
			again, err := readManifest(dir)
			if err != nil {
				return g, err
			}
			return g, again.same(m, dir)
		},
		Check: func(t testing.TB, text string, g cells.Grid) { require.NotEmpty(t, g.Cells, "%q", text) },
		Accepts: []string{
			string(e.Settings), `{"full":{"replicates":1,"xs":[0]}}`, `{"full":{"xs":[1,-5],"note":"<\u00e9>","replicates":3},"smoke":null}`,
		},
		Refuses: []string{
			``, `{}`, `[]`, `null`, `{"full":{}}`, `{"full":7}`, `{"full":null}`, `{"smoke":{"replicates":1,"xs":[1]}}`, `{"full":{"replicates":0,"xs":[1]}}`, `{"full":{"replicates":1,"xs":[]}}`,
			`{"full":{"replicates":1,"xs":[1,1]}}`, `{"full":{"replicates":1,"xs":[1],"more":1}}`, `{"full":{"replicates":1e9,"xs":[1]}}`, `{"full":{"replicates":1000000000,"xs":[1]}}`, `{"full":{"replicates":"1","xs":[1]}}`, `{"full":{"replicates":1,"xs":[1]}`,
		},
	}.Fuzz(f)
}
