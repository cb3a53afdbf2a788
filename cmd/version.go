package cmd

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// versionText says what program this is, in two lines: its version with the revision that it
// was built from, where the build knows them, and by what and for what it was built.
func versionText(b *debug.BuildInfo) string {
	version, of := "(devel)", map[string]string{}
	if b != nil {
		if b.Main.Version != "" {
			version = b.Main.Version
		}
		for _, s := range b.Settings {
			of[s.Key] = s.Value
		}
	}
	var source []string
	if revision := of["vcs.revision"]; revision != "" {
		source = append(source, "revision "+revision)
	}
	if at := of["vcs.time"]; at != "" {
		source = append(source, at)
	}
	if of["vcs.modified"] == "true" {
		source = append(source, "with changes that are not committed")
	}
	if source != nil {
		version += " (" + strings.Join(source, ", ") + ")"
	}
	return fmt.Sprintf("missingscore %s\n%s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// buildInfo is what the program knows of its build, nil for nothing.
func buildInfo() *debug.BuildInfo {
	b, _ := debug.ReadBuildInfo()
	return b
}
