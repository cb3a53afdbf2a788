package graph

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// openBLASNames are the files that OpenBLAS may be in, the likelier first.
func openBLASNames() []string { return []string{"libopenblas.dll", "openblas.dll"} }

// openShared loads a shared library: a bare name from the program's folder and the system's,
// never from the folder that the user is in.
func openShared(path string) (uintptr, error) {
	where := uintptr(windows.LOAD_LIBRARY_SEARCH_DEFAULT_DIRS)
	if filepath.IsAbs(path) {
		where |= windows.LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR // for the libraries that it needs itself
	}
	handle, err := windows.LoadLibraryEx(path, 0, where)
	return uintptr(handle), err
}

// lookUp is the address of a library's function.
func lookUp(library uintptr, name string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(library), name)
}
