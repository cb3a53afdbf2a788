// Systems checks the types of the program and its imports for other systems:
//
//	systems darwin windows
package main

import (
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
)

func main() {
	for _, system := range os.Args[1:] {
		loaded, err := packages.Load(&packages.Config{
			Mode: packages.NeedTypes | packages.NeedSyntax | packages.NeedDeps | packages.NeedImports | packages.NeedFiles |
				packages.NeedCompiledGoFiles | packages.NeedName, // from the sources: nothing is compiled
			Env: append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
		}, "./cmd/missingscore")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		if err != nil || packages.PrintErrors(loaded) > 0 {
			fmt.Fprintln(os.Stderr, "does not build for "+system)
			os.Exit(1)
		}
	}
}
