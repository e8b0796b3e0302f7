package files

// DistrustReason returns "": who may write into a folder is not looked at.
func DistrustReason(string) string { return "" }
