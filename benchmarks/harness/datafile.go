package harness

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"missingscore/benchmarks/cells"
)

// FolderVariable is the environment variable that names the folder of the real tables,
// where the settings do not.
const FolderVariable = "MISSINGSCORE_DATA"

// DataPath is where a real table is looked for.
func DataPath(folder, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(cmp.Or(folder, os.Getenv(FolderVariable)), file)
}

// Present fails with cells.ErrAbsent where the file is not there.
func Present(path string) error {
	var why string
	switch _, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		why = "there is no file " + path
	case errors.Is(err, syscall.ENOTDIR):
		why = filepath.Dir(path) + " is no folder"
	default:
		return err
	}
	return fmt.Errorf("%w: %s; name the folder that holds %s by the environment variable %s or the setting \"folder\"",
		cells.ErrAbsent, why, filepath.Base(path), FolderVariable)
}
