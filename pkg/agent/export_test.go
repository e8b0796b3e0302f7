package agent

// Smaller is smaller, for tests.
func Smaller(data []byte) []byte { return smaller(data) }
