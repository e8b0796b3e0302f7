package adb

import (
	"testing"

	"github.com/trailblaze/trailblaze/testdata/phones/collected"
)

// What adb servers answered about their devices is read.
func TestCollectedDevices(t *testing.T) {
	t.Parallel()
	answers, err := collected.Answers("devices.txt")
	if err != nil {
		t.Fatal(err)
	}
	for device, data := range answers {
		devices := parseDevices(string(data))
		ready := 0
		for _, d := range devices {
			if d.State == Ready && d.Model != "" {
				ready++
			}
		}
		if ready == 0 {
			t.Errorf("%s: %+v in %s", device, devices, data)
		}
	}
}
