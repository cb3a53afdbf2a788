package cmd

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/trainers/compare"
)

// A pair's line has the numbers by which it was chosen, and those of the estimates apart from them.
func TestDifferenceText(t *testing.T) {
	d := compare.Difference{Value: 0.2, Low: math.NaN(), High: math.NaN(), Q: 0.07}
	require.Equal(t, "  difference +0.200  q 0.07", differenceText(d))
	d.Estimates = &compare.Estimates{Value: 0.026, Low: -0.258, High: 0.307, Q: 0.91}
	require.Equal(t, "  difference +0.200  q 0.07; with all pairs free  difference +0.026 [-0.258, +0.307]  q 0.91", differenceText(d))
}

func TestFolderName(t *testing.T) {
	taken := []string{"report.html", "women"}
	for name, want := range map[string]bool{
		"men": true, "5": true, "group_1.2": true, "Women": false, "report.html": false, "..": false, ".hidden": false, "a/b": false,
		"a b": false, "a=1": false, "x:y": false, "": false, "größe": false, strings.Repeat("x", 65): false,
	} {
		require.Equal(t, want, folderName(name, taken), "%q", name)
	}
	require.Equal(t, "a|b", plainName("a/b"))
	f := compareCommand{groups: [2]comparedGroup{{name: "a/b"}, {name: "c"}}}
	f.nameFolders()
	require.Equal(t, []string{"a", "b"}, []string{f.groups[0].folder, f.groups[1].folder})
	f.groups[0].name = "m"
	f.nameFolders()
	require.Equal(t, []string{"m", "c"}, []string{f.groups[0].folder, f.groups[1].folder})
}
