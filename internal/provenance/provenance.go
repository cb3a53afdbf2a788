// Package provenance says of which source figures are: a commit of this repository and its date.
package provenance

import (
	"fmt"
	"os/exec"
	"strings"
)

// Source is a state of the source. The zero value says nothing.
type Source struct {
	Commit string `json:"commit,omitempty"` // abbreviated; ends with "+" where files were changed since
	Date   string `json:"date,omitempty"`   // of that commit, as 2006-01-02
}

// From is the source itself, for what embeds it.
func (s Source) From() Source { return s }

// String is the source in words.
func (s Source) String() string { return fmt.Sprintf("%s of %s", s.Commit, s.Date) }

// generated are the files that figures are written to: they are no change of the source.
var generated = []string{":!internal/trust/figures", ":!TRUST.md"}

// Of asks git for the source in a folder.
func Of(dir string) (s Source, err error) {
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
		if err != nil {
			return "", fmt.Errorf("git %s: %w", args[0], err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	last, err := git("log", "-1", "--format=%h %cs")
	if err != nil {
		return s, err
	}
	s.Commit, s.Date, _ = strings.Cut(last, " ")
	changed, err := git(append([]string{"status", "--porcelain", "--", ":/"}, generated...)...)
	if changed != "" {
		s.Commit += "+"
	}
	return s, err
}
