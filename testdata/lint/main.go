// This module breaks every custom lint rule of ../../.golangci.yml in the lines marked "want", and nothing else of
// them. The program's own layout is repeated, for the rules that know rooms. See .ci/lint-rules.
package main

import "os"

func main() {
	os.Exit(0)
	_ = os.Args // want
	panic("")   // want
}
