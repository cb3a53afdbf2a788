// Command missingscore with the model, the objective and the method of this example.
package main

import (
	_ "example.com/extension"

	"missingscore/cmd"
)

func main() { cmd.Main() }
