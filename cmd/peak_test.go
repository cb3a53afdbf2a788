//go:build unix

package cmd

import (
	"os/exec"
	"strconv"
	"time"

	"missingscore/internal/memory"
)

// waitPeak waits for the end of a process that has begun, and gives the most memory of it that was
// resident at a time, in bytes, as looked at every few milliseconds; 0 where the system does not tell.
func waitPeak(c *exec.Cmd) (peak float64, err error) {
	process := strconv.Itoa(c.Process.Pid)
	for {
		bytes, ok := memory.Resident(process, "VmHWM")
		if !ok { // it has ended, or was never to be seen
			return peak, c.Wait()
		}
		peak = max(peak, bytes)
		time.Sleep(2 * time.Millisecond)
	}
}
