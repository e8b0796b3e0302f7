//go:build race

package engine

// peakFactor is by how much the memory of a process may exceed attackPeak: the race detector keeps some for each byte
// in use.
const peakFactor = 4
