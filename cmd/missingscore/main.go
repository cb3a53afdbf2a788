// Command missingscore estimates probability models from tables with missing cells.
package main

import "missingscore/cmd"

func main() { cmd.Main() }
