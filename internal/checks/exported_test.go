package checks

import (
	"flag"
	"go/ast"
	"go/token"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite testdata/exported.txt")

// -update rewrites testdata/exported.txt.
func TestExported(t *testing.T) {
	var now []string
	eachSource(t, func(file, top string, _ *token.FileSet, source *ast.File) {
		ofTheProgram := top == "cmd" && strings.Count(file, "/") > 1 // report and picture are the command's own
		if !ofTheProgram && (top == "cmd" || slices.Contains(library, top)) && source.Name.Name != "main" {
			names, _ := exported(source)
			for _, name := range names {
				now = append(now, path.Dir(file)+"."+name)
			}
		}
	})
	slices.Sort(now)
	now = slices.Compact(now)
	const golden = "testdata/exported.txt"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(strings.Join(now, "\n")+"\n"), 0o644))
	}
	text, err := os.ReadFile(golden)
	require.NoError(t, err)
	was := strings.Fields(string(text))
	without := func(these, those []string) []string {
		return slices.DeleteFunc(slices.Clone(these), func(name string) bool { return slices.Contains(those, name) })
	}
	const meant = "if that is meant, go test ./internal/checks -run Exported -update, and a line in CHANGELOG.md"
	require.Empty(t, without(was, now), "exported names are gone: "+meant)
	require.Empty(t, without(now, was), "exported names are new: "+meant)
}
