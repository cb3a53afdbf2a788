package graph

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

func openBLASNames() []string { return []string{"libopenblas.dll", "openblas.dll"} }

// openShared searches a bare name in the program's and the system's folders, never in the current one.
func openShared(path string) (uintptr, error) {
	where := uintptr(windows.LOAD_LIBRARY_SEARCH_DEFAULT_DIRS)
	if filepath.IsAbs(path) {
		where |= windows.LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR // for its own dependencies
	}
	handle, err := windows.LoadLibraryEx(path, 0, where)
	return uintptr(handle), err
}

func lookUp(library uintptr, name string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(library), name)
}
