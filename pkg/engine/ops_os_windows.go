package engine

import (
	"fmt"

	"golang.org/x/sys/windows"
)

func about() machine {
	v := windows.RtlGetVersion()
	return machine{
		release: fmt.Sprintf("%d.%d.%d", v.MajorVersion, v.MinorVersion, v.BuildNumber), version: "Windows",
		uptime: uint64(windows.DurationSinceBoot().Seconds()),
	}
}
