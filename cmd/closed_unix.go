//go:build unix

package cmd

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// closed tells whether a file was closed when the program was started. Go has then opened the null
// device in its place, for reading and writing, where a shell opens it for writing alone.
func closed(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	mine, err := f.Stat()
	if err != nil {
		return true
	}
	null, err := os.Stat(os.DevNull)
	if err != nil || !os.SameFile(mine, null) {
		return false
	}
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_ACCMODE == unix.O_RDWR
}
