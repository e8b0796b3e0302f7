package adb

import "time"

// WithLimits returns the server with other limits.
func (s Server) WithLimits(limit time.Duration, maxOutput int) Server {
	s.limit, s.maxOutput = limit, maxOutput
	return s
}

// ParseDevices parses a list of devices.
func ParseDevices(text string) []Info { return parseDevices(text) }
