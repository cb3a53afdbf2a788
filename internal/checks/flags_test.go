package checks

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/cmd/words"
)

// Flags in messages exist; packages below cmd name settings, which the command translates.
func TestFlagsOfMessagesExist(t *testing.T) {
	reference, err := os.ReadFile(filepath.Join(root, "docs/reference/command-line.md"))
	require.NoError(t, err)
	known := map[string]bool{"--help": true, "--help-all": true, "--ultra": true, "--long": true} // the latter two are zstd's
	for _, line := range regexp.MustCompile("(?m)^- `(?:-[a-z], )?(--[a-z-]+)").FindAllStringSubmatch(string(reference), -1) {
		known[line[1]] = true
	}
	require.NotEmpty(t, known)
	for name, flag := range words.Flags {
		require.True(t, known[regexp.MustCompile("^--[a-z-]+").FindString(flag)], name)
	}
	flag := regexp.MustCompile(`--[a-z][a-z-]*`)
	flags, settings := 0, 0
	eachSource(t, func(path, top string, files *token.FileSet, file *ast.File) {
		ofLibrary := slices.Contains(library, top) || strings.HasPrefix(path, "internal/memory/")
		if top != "cmd" && !ofLibrary {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			if !ok || text.Kind != token.STRING {
				return true
			}
			at := fmt.Sprintf("%s:%d", path, files.Position(text.Pos()).Line)
			for _, name := range flag.FindAllString(text.Value, -1) {
				switch flags++; {
				case name == "--long" || name == "--ultra": // zstd's
				case ofLibrary:
					t.Errorf("%s names the flag %s: name the setting, as Spec.Steps.Method, with a line in cmd/words", at, name)
				case !known[name]:
					t.Errorf("%s advises %s, which no command has", at, name)
				}
			}
			for _, name := range words.Name.FindAllString(text.Value, -1) {
				if settings++; ofLibrary && words.Flags[name] == "" {
					t.Errorf("%s names %s, which has no flag in cmd/words", at, name)
				}
			}
			return true
		})
	})
	require.Greater(t, flags, 50)
	require.Greater(t, settings, 80)
}
