package scale

import (
	"fmt"
	"os"
	"runtime/debug"

	"missingscore/internal/memory"
)

// watch knows how much of this process was resident when it began.
type watch struct{ before float64 }

// watchMemory gives back what is not used and, on Linux, begins the system's count of the
// most that is resident anew (proc_pid_clear_refs(5), "5"). One cell at a time: others that
// run beside it count as well.
func watchMemory() watch {
	debug.FreeOSMemory()
	if os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) != nil {
		return watch{before: -1}
	}
	return watch{before: resident("VmRSS")}
}

// megabytes are what has been resident at most since, above what was before; "-" where the
// system does not tell.
func (w watch) megabytes() string {
	most := resident("VmHWM")
	if w.before < 0 || most < 0 {
		return unknown
	}
	return fmt.Sprintf("%.0f", most-w.before)
}

const unknown = "-"

// resident is a line of this process's memory in megabytes; −1 where there is none.
func resident(line string) float64 {
	bytes, ok := memory.Resident("self", line)
	if !ok {
		return -1
	}
	return bytes / (1 << 20)
}
