package report

import (
	"runtime"
	"runtime/debug"
	"strings"

	"missingscore/graph"
)

// versions are of what computed: on another processor or with another library of
// matrix products the last digits differ.
func versions() ([][2]string, error) {
	blas, err := graph.BLAS()
	if err != nil {
		return nil, err
	}
	out := [][2]string{{"go", runtime.Version()}, {"platform", runtime.GOOS + "/" + runtime.GOARCH}, {"matrix products", blas}}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
				out = append(out, [2]string{s.Key, s.Value})
			}
		}
		for _, m := range info.Deps {
			if strings.HasPrefix(m.Path, "gonum.org/") || strings.HasPrefix(m.Path, "gorgonia.org/gorgonia") {
				out = append(out, [2]string{m.Path, m.Version})
			}
		}
	}
	return out, nil
}
