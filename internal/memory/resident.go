package memory

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Resident is a line of a process's memory in bytes, as Linux has it in /proc/PROCESS/status:
// VmRSS is what is resident now, VmHWM the most that has been at a time. The process is a number
// or "self". There is none of a process that has ended, nor on other systems.
//
// ru_maxrss of getrusage(2) is no such figure: it begins with what the process's parent held.
func Resident(process, line string) (bytes float64, ok bool) {
	text, err := os.ReadFile(filepath.Join("/proc", process, "status"))
	if err != nil {
		return 0, false
	}
	return residentLine(string(text), line)
}

func residentLine(status, line string) (bytes float64, ok bool) {
	_, after, _ := strings.Cut("\n"+status, "\n"+line+":")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0, false
	}
	kilobytes, err := strconv.ParseFloat(fields[0], 64)
	return kilobytes * 1024, err == nil
}
