// Command missingscore estimates probability models from tables with missing
// cells by score matching. See the README, or missingscore --help.
package main

import "missingscore/cmd"

func main() { cmd.Main() }
