// Command missingscore with the models, objectives, sources and imputers of this module.
package main

import (
	_ "example.com/extension"

	"missingscore/cmd"
)

func main() { cmd.Main() }
