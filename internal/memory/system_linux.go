package memory

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// available is the free and reclaimable memory within cgroup and ulimit -v; 0 if unknown.
func available() float64 {
	least := math.Inf(1)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		_, after, _ := strings.Cut(string(text), "MemAvailable:")
		number, _, _ := strings.Cut(strings.TrimSpace(after), " ")
		if kib, err := strconv.ParseFloat(number, 64); err == nil {
			least = kib * 1024
		}
	}
	for _, bytes := range controlGroup() {
		least = min(least, bytes)
	}
	var process unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &process) == nil && process.Cur != math.MaxUint64 {
		least = min(least, float64(process.Cur))
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// Versions 1 and 2.
func controlGroup() (limits []float64) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) < 3 {
			continue
		}
		root, name := "/sys/fs/cgroup", "memory.max"
		if part[1] != "" {
			root, name = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
			if !strings.Contains(part[1], "memory") {
				continue
			}
		}
		for dir := part[2]; ; dir = filepath.Dir(dir) { // parent groups limit it, too
			if text, err := os.ReadFile(filepath.Join(root, dir, name)); err == nil {
				if v, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64); err == nil {
					limits = append(limits, v)
				}
			}
			if dir == "/" || dir == "." {
				break
			}
		}
	}
	return limits
}
