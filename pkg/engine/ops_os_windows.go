package engine

import (
	"fmt"

	"golang.org/x/sys/windows"
)

func machineInfo() machineFacts {
	v := windows.RtlGetVersion()
	return machineFacts{
		release: fmt.Sprintf("%d.%d.%d", v.MajorVersion, v.MinorVersion, v.BuildNumber), version: "Windows",
		uptime: uint64(windows.DurationSinceBoot().Seconds()),
	}
}
