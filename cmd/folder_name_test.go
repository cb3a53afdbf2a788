package cmd

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
