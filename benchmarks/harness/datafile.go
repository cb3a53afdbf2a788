package harness

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"missingscore/benchmarks/cells"
)

// FolderVariable is the environment variable that names the folder of the real tables.
const FolderVariable = "MISSINGSCORE_DATA"

// DataPath returns the path of a real table. An empty folder means FolderVariable.
func DataPath(folder, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(cmp.Or(folder, os.Getenv(FolderVariable)), file)
}

// Present fails with cells.ErrAbsent if the file cannot be found.
func Present(path string) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("%w: %w; set %s to the folder that holds %s", cells.ErrAbsent, err, FolderVariable, filepath.Base(path))
	}
	return nil
}
