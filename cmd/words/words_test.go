package words

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/data/moments"
	"missingscore/internal/memory"
	"missingscore/trainers"
	"missingscore/trainers/fitted"
)

func TestNamesAreFields(t *testing.T) {
	roots := map[string]any{"Spec": trainers.Spec{}, "ReadOptions": data.ReadOptions{}, "Table": data.Table{}, "MatchConfig": fitted.MatchConfig{}, "moments.Options": moments.Options{}}
	for name := range Flags {
		require.Equal(t, name, Name.FindString(name))
		for root, of := range roots {
			path, ok := strings.CutPrefix(name, root+".")
			if !ok {
				continue
			}
			path, _, _ = strings.Cut(path, "=")
			at := reflect.TypeOf(of)
			for field := range strings.SplitSeq(path, ".") {
				if at.Kind() == reflect.Pointer {
					at = at.Elem()
				}
				f, found := at.FieldByName(field)
				require.True(t, found, name)
				at = f.Type
			}
		}
	}
}

func TestText(t *testing.T) {
	var b strings.Builder
	_, err := Writer{&b}.Write([]byte("leave it out (ReadOptions.Exclude a), or take Spec.Steps.Method em-full; Spec.Unknown; leave Spec.Transform=ordinal or Spec.Transform out: set " + memory.Variable + " where more is available"))
	require.NoError(t, err)
	require.Equal(t, "leave it out (--exclude a), or take --method em-full; Spec.Unknown; leave --ordinal or --transform out: set --memory or "+memory.Variable+" where more is available", b.String())
}
