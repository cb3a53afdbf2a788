package cmd

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// plainName is a name that begins no folder.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == filepath.Separator {
			return '|'
		}
		return r
	}, name)
}

// folderPattern is of names that every file system takes, and that no list or path divides.
var folderPattern = regexp.MustCompile(`^[A-Za-z0-9_+-][A-Za-z0-9_.+-]*$`)

// folderName tells whether a name is one that can be a folder's as it stands, and none of
// those taken, in whatever case.
func folderName(name string, taken []string) bool {
	return folderPattern.MatchString(name) && len(name) <= 64 &&
		!slices.ContainsFunc(taken, func(other string) bool { return strings.EqualFold(name, other) })
}
