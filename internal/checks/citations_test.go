package checks

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	citation = regexp.MustCompile(`docs/[\w/-]+\.md(?:#[\w-]+)?`)
	anchor   = regexp.MustCompile(`<a id="([\w-]+)">`)
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notWord  = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
)

func anchors(t *testing.T, path string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	found := map[string]bool{}
	for _, m := range anchor.FindAllStringSubmatch(string(text), -1) {
		require.False(t, found[m[1]], "%s: two anchors are called %s", path, m[1])
		found[m[1]] = true
	}
	for _, m := range heading.FindAllStringSubmatch(string(text), -1) {
		words := strings.ToLower(notWord.ReplaceAllString(strings.ReplaceAll(m[1], "`", ""), ""))
		found[strings.ReplaceAll(words, " ", "-")] = true
	}
	return found
}

func resolves(t *testing.T, from, target string) {
	t.Helper()
	file, fragment, has := strings.Cut(target, "#")
	if _, err := os.Stat(file); err != nil {
		t.Errorf("%s cites %s, which is not there", from, target)
	} else if has && strings.HasSuffix(file, ".md") && !anchors(t, file)[fragment] {
		t.Errorf("%s cites %s, which has no such anchor", from, target)
	}
}

func TestCitationsResolve(t *testing.T) {
	cited := 0
	each(t, ".go", func(path string) {
		text, err := os.ReadFile(filepath.Join(root, path))
		require.NoError(t, err)
		require.NotContains(t, string(text), "maths"+".md", "%s cites a page that is not in the repository", path)
		for _, c := range citation.FindAllString(string(text), -1) {
			resolves(t, path, filepath.Join(root, c))
			cited++
		}
	})
	require.Greater(t, cited, 15)
}
