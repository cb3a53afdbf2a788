package cmd

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersionText(t *testing.T) {
	require.Regexp(t, `^missingscore \(devel\)\ngo\S+ \w+/\w+\n$`, versionText(nil))
	b := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "false"}}}
	require.Regexp(t, `^missingscore v1\.2\.3 \(revision abc, 2026-01-02T03:04:05Z\)\n`, versionText(b))
	b.Settings[2].Value = "true"
	require.Contains(t, versionText(b), "03:04:05Z, with changes that are not committed)")
}
