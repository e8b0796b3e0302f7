package adb

import "context"

// DeviceLines returns what the server answers about its devices, as it is.
func (s Server) DeviceLines(ctx context.Context) (string, error) {
	return s.query(ctx, "listing the Android devices", "host:devices-l")
}
