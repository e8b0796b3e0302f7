package tool

import (
	"crypto/rand"
	"encoding/hex"
)

// A capability is CapabilityPrefix and CapabilityDigits lower-case hex digits. The prefix lets a redactor recognize it
// in any output.
const (
	CapabilityPrefix = "tbk_"
	CapabilityDigits = 64
)

// NewCapability returns a random capability of 256 bits. It authorizes its holder to act for a session or a call
// until that ends, and must not be logged.
func NewCapability() string {
	var random [CapabilityDigits / 2]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	return CapabilityPrefix + hex.EncodeToString(random[:])
}
