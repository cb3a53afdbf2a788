//go:build unix

package graph

import (
	"runtime"

	"github.com/ebitengine/purego"
)

func openBLASNames() []string {
	if runtime.GOOS == "darwin" {
		return []string{"/opt/homebrew/opt/openblas/lib/libopenblas.dylib", "/usr/local/opt/openblas/lib/libopenblas.dylib", "libopenblas.dylib"}
	}
	return []string{"libopenblas.so.0", "libopenblas.so"}
}

func openShared(path string) (uintptr, error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
}

func lookUp(library uintptr, name string) (uintptr, error) { return purego.Dlsym(library, name) }
