package atomicfile

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// patience is how long another program, as one that looks for viruses, or another writer may
// have the file open that is to be replaced.
const patience = 5 * time.Second

// rename puts a file in the place of another, which Windows refuses while that is open
// anywhere: it is tried again for a while.
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
