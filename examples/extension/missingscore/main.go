// Command missingscore with the model, the objective and the method of this example.
package main

import (
	"missingscore/cmd"
	_ "missingscore/examples/extension"
)

func main() { cmd.Main() }
