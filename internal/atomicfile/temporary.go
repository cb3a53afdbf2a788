package atomicfile

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"missingscore/internal/filelock"
)

const temporarySuffix = ".tmp"

// temporary makes the file that is to replace path, locked by this process. It removes
// those of the same path that killed processes have left, which nobody has locked.
func temporary(path string) (*os.File, error) {
	mode, replaced := os.FileMode(0o666), false
	if info, err := os.Stat(path); err == nil {
		mode, replaced = info.Mode().Perm(), true
	}
	begin := Companion(path, "")
	if err := sweep(begin); err != nil {
		return nil, err
	}
	for {
		name := fmt.Sprintf("%s.%d%s", begin, rand.Uint64(), temporarySuffix)
		f, err := filelock.OpenNoLink(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		ours, err := filelock.Take(f)
		if errors.Is(err, filelock.ErrHeld) {
			continue // another process is sweeping, and saw the file before it was locked
		}
		if err != nil {
			return nil, err
		}
		if !ours {
			f.Close()
			continue
		}
		if replaced { // umask is for new files
			if err := f.Chmod(mode); err != nil {
				os.Remove(name)
				f.Close()
				return nil, err
			}
		}
		return f, nil
	}
}

// sweep removes the temporary files whose names begin like this and that nobody has locked.
func sweep(begin string) error {
	entries, err := os.ReadDir(filepath.Dir(begin))
	if err != nil {
		return nil // a folder that cannot be listed can still be written to
	}
	for _, e := range entries {
		name := filepath.Join(filepath.Dir(begin), e.Name())
		middle, begins := strings.CutPrefix(name, begin+".")
		middle, ends := strings.CutSuffix(middle, temporarySuffix)
		if !begins || !ends || !e.Type().IsRegular() || strings.Trim(middle, "0123456789") != "" {
			continue
		}
		f, err := filelock.OpenNoLink(name, os.O_RDWR, 0)
		if err != nil {
			continue // gone, or not ours
		}
		if ours, err := filelock.Take(f); err == nil {
			if ours {
				err = os.Remove(name)
			}
			f.Close()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

const longestName = 255 // bytes, of a file on nearly every file system

// Companion is a hidden file beside path that belongs to it: its name is that of path with a
// suffix, or where that is too long for a file's name made of its checksum.
func Companion(path, suffix string) string {
	base := filepath.Base(path)
	if len(base)+len(suffix)+len(".")+len(".18446744073709551615")+len(temporarySuffix) > longestName {
		base = fmt.Sprintf("%x", sha256.Sum256([]byte(base)))[:32]
	}
	return filepath.Join(filepath.Dir(path), "."+base+suffix)
}
