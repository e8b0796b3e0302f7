package tool

import (
	"crypto/rand"
	"encoding/hex"
)

// CapabilityPrefix begins every capability, so that a redactor knows one wherever a tool prints it; CapabilityDigits lower-case
// hex digits follow.
const (
	CapabilityPrefix = "tbk_"
	CapabilityDigits = 64
)

// NewCapability is 256 random bits: whoever knows it may act for what it names, a session or a call, while that lives. It is
// never logged.
func NewCapability() string {
	var random [CapabilityDigits / 2]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	return CapabilityPrefix + hex.EncodeToString(random[:])
}
