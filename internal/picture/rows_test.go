package picture

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRows(t *testing.T) {
	p, err := Rows("Title", "error", []string{"one", "two"}, []Marks{{"iw", "ours", []float64{1, 2}, []int{0, 1}}, {"var", "theirs", []float64{1.5}, []int{1}}})
	require.NoError(t, err)
	text, err := SVG(p, 400, RowsHeight(2))
	require.NoError(t, err)
	for _, part := range []string{">one<", ">two<", ">ours<", ">theirs<", ">error<"} {
		require.Contains(t, text, part)
	}
	for _, bad := range []Marks{{"iw", "", []float64{1}, nil}, {"iw", "", []float64{0}, []int{0}}, {"iw", "", []float64{1}, []int{2}}} {
		_, err := Rows("", "", []string{"one", "two"}, []Marks{bad})
		require.Error(t, err)
	}
	_, err = Rows("", "", []string{"one"}, []Marks{{"iw", "a", []float64{1}, []int{0}}, {"iw", "b", []float64{1}, []int{0}}})
	require.ErrorContains(t, err, `"iw" and "iw" look alike`)
}
