package data_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/fuzztest"
)

func FuzzReadLabels(f *testing.F) {
	fuzztest.Reader[map[string]string]{
		Read:    fuzztest.InFile(f, "t.csv", func(path string) (map[string]string, error) { return data.ReadLabels(path, []string{"x1", "x2"}) }),
		Accepts: []string{"name,label\nx1,first\nx2,\"second, too\"\n"},
		Others:  []string{"name;label\nx1;\n", "label,name\n", "name,label\nx1,a\nx1,b\n", ""},
	}.Fuzz(f)
}

func FuzzReadGroups(f *testing.F) {
	fuzztest.Reader[[2]data.Group]{
		Read: fuzztest.InFile(f, "t.csv", func(path string) (groups [2]data.Group, err error) {
			groups, _, err = data.ReadGroups(path, "g", nil, data.ReadOptions{})
			return groups, err
		}),
		Check: func(t testing.TB, _ string, groups [2]data.Group) {
			require.NotNil(t, groups[0].Table)
			require.NotNil(t, groups[1].Table)
		},
		Accepts: []string{"g,x1,x2\na,1,2\nb,3,4\na,5,6\nb,7,9\n"},
		Others:  []string{"g,x1\na,1\na,2\n", "x1,g\n1,a\n2,\n3,b\n4,c\n", "g\n", ""},
	}.Fuzz(f)
}
