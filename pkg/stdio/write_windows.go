package stdio

import "os"

// writeNow writes nothing: a write to a pipe of Windows may always have to wait.
func writeNow(*os.File, []byte) (n int, err error) { return 0, nil }
