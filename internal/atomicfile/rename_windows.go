package atomicfile

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// patience is how long to wait for another program, such as a virus scanner, that has the target
// file open.
const patience = 5 * time.Second

// rename replaces a file; Windows refuses while another program has it open, so it retries.
func rename(from, to string) error {
	wait := time.Millisecond
	for start := time.Now(); ; wait = min(2*wait, patience/20) {
		err := os.Rename(from, to)
		busy := errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
		if !busy || time.Since(start) > patience {
			return err
		}
		time.Sleep(wait)
	}
}
