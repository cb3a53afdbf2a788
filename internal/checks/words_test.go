package checks

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// banned are words that this project once had for things that the field, or plain
// English, has a word for. docs/glossary.md has the words that are used.
var banned = map[string]string{
	`\bDescribed\b`:                      "Parametric",
	`\bPatterned\b`:                      "MaskConditional",
	`(?i)levelled`:                       "noise-conditional",
	`\bAboutZero\b`:                      "FixedOrigin",
	`\bBeside\b`:                         "ConcatColumns",
	`(?i)standstill`:                     "StopTol",
	`(?i)\bstands? still\b`:              "stops changing",
	`\b[Ll]ately\b`:                      "recent",
	`\bfled\b`:                           "diverged",
	`(?i)\bran ?away\b|\brunning away\b`: "diverged",
	`(?i)remed(y|ies)`:                   "advice",
	`\blift(s|ed)\b|\bLift(s|ed)\b`:      "projected",
	`\bpinched\b`:                        "too narrow",
	`\bUnmixed\b`:                        "MaxRHat",
	`\bplain (proximal )?steps?\b`:       "proximal gradient step",
	`\bdraws? that counts?\b`:            "effective sample size",
	`(?i)\bturns? of (expectation|EM\b)`: "EM iteration",
	`Unit: +"turn"`:                      "EM iteration",
	`\b(maths|MATHS)` + `\.md\b`:         "docs/theory",
}

// spoken are files that may quote them: history, and this list.
var spoken = []string{"CHANGELOG.md", "internal/checks/words_test.go", "nets/old_options", "trainers/fitted/saved_test.go", "benchmarks/results/"}

func TestBannedWords(t *testing.T) {
	if testing.Short() {
		t.Skip("the tests that the detector of races runs are the short ones, and this is one of texts")
	}
	for pattern, instead := range banned {
		word := regexp.MustCompile(pattern)
		for _, suffix := range []string{".go", ".md", ".txtar", ".tmpl"} {
			each(t, suffix, func(path string) {
				for _, s := range spoken {
					if strings.HasPrefix(path, s) {
						return
					}
				}
				text, err := os.ReadFile(filepath.Join(root, path))
				require.NoError(t, err)
				for i, line := range strings.Split(string(text), "\n") {
					if found := word.FindString(line); found != "" {
						t.Errorf("%s:%d has %q: say %s", path, i+1, found, instead)
					}
				}
			})
		}
	}
}
