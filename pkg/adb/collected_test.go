package adb

import (
	"testing"

	"github.com/trailblaze/trailblaze/testdata/phones/collected"
)

// What adb servers answered about their devices is read.
func TestCollectedDevices(t *testing.T) {
	t.Parallel()
	collected.Each(t, "devices.txt", func(t *testing.T, data []byte) {
		devices := parseDevices(string(data))
		ready := 0
		for _, d := range devices {
			if d.State == Ready && d.Model != "" {
				ready++
			}
		}
		if ready == 0 {
			t.Errorf("%+v in %s", devices, data)
		}
	})
}
