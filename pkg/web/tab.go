package web

import (
	"github.com/trailblaze/trailblaze/pkg/device"
)

// tab is the page that a session sees.
type tab struct {
	session device.Session
}
