package scale

import (
	"fmt"
	"os"
	"runtime/debug"

	"missingscore/internal/memory"
)

// watch holds the resident megabytes at its start; −1: unknown.
type watch struct{ before float64 }

// watchMemory frees unused memory and, on Linux, resets the peak of the resident set
// (proc_pid_clear_refs(5)). Concurrent cells count too, so run one cell at a time.
func watchMemory() watch {
	debug.FreeOSMemory()
	if os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) != nil {
		return watch{before: -1}
	}
	return watch{before: resident("VmRSS")}
}

// megabytes returns the growth of the peak resident set since watchMemory; "-" if the system does not report it.
func (w watch) megabytes() string {
	most := resident("VmHWM")
	if w.before < 0 || most < 0 {
		return unknown
	}
	return fmt.Sprintf("%.0f", most-w.before)
}

const unknown = "-"

// resident returns a line of /proc/self/status in megabytes; −1 if there is none.
func resident(line string) float64 {
	bytes, ok := memory.Resident("self", line)
	if !ok {
		return -1
	}
	return bytes / (1 << 20)
}
