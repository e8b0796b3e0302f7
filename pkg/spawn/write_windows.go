package spawn

import "os"

// writeNow writes nothing: a pipe of Windows cannot be asked whether it would hold us up.
func writeNow(*os.File, []byte) (n int, err error) { return 0, nil }
