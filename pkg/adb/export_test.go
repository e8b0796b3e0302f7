package adb

import "time"

// WithLimits returns the server with other limits.
func (s Server) WithLimits(limit time.Duration, maxOutput int) Server {
	s.limit, s.maxOutput = limit, maxOutput
	return s
}
