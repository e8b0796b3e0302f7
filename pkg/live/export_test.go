package live

// CleanValue is cleanValue, for tests.
var CleanValue = cleanValue
