package files

// Distrusted returns "": who may write into a folder is not looked at.
func Distrusted(string) string { return "" }
