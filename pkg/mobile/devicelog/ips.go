package devicelog

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// report is a crash report of iOS: what is used of it.
type report struct {
	PID        int `json:"pid"`
	BundleInfo struct {
		ID string `json:"CFBundleIdentifier"`
	} `json:"bundleInfo"`
	Exception struct {
		Type   string `json:"type"`
		Signal string `json:"signal"`
	} `json:"exception"`
	Said           map[string][]string `json:"asi"` // "application specific information", by library
	FaultingThread int                 `json:"faultingThread"`
	Threads        []struct {
		Frames []frame `json:"frames"`
	} `json:"threads"`
	LastException []frame `json:"lastExceptionBacktrace"`
	Images        []struct {
		Path string `json:"path"`
	} `json:"usedImages"`
}

// frame is a place in code.
type frame struct {
	Symbol string `json:"symbol"`
	Image  int    `json:"imageIndex"`
	File   string `json:"sourceFile"`
	Line   int    `json:"sourceLine"`
}

// Report reads a crash report of iOS, as the files .ips have it: a line of JSON with what happened to which app, and a
// document with the rest. ok is false for one of another app, and for one that is not about a crash.
func Report(ips, app string) (c Crash, ok bool) {
	head, body, _ := strings.Cut(ips, "\n")
	var about struct {
		ID string `json:"bundleID"`
	}
	var r report
	if json.Unmarshal([]byte(head), &about) != nil || json.Unmarshal([]byte(body), &r) != nil {
		return c, false
	}
	if about.ID != app && r.BundleInfo.ID != app || r.Exception.Type == "" {
		return c, false
	}
	c = Crash{App: app, PID: r.PID, Reason: r.said()}
	if c.Reason == "" {
		c.Reason = strings.TrimSuffix(r.Exception.Type+" ("+r.Exception.Signal+")", " ()")
	}
	if at := r.ownFrame(); at != "" && !strings.Contains(c.Reason, " at ") {
		c.Reason += " at " + at
	}
	return c, true
}

// said returns what the app or its libraries said about the end; empty if they said nothing.
func (r report) said() string {
	for _, messages := range r.Said {
		for _, message := range messages {
			if reason := iosReason(message); reason != "" {
				return reason
			}
		}
	}
	return ""
}

// ownFrame returns the first frame in the code of the app; empty without one.
func (r report) ownFrame() string {
	frames := r.LastException
	if len(frames) == 0 && r.FaultingThread >= 0 && r.FaultingThread < len(r.Threads) {
		frames = r.Threads[r.FaultingThread].Frames
	}
	for _, f := range frames {
		if f.Image < 0 || f.Image >= len(r.Images) || !strings.Contains(r.Images[f.Image].Path, ".app/") || f.Symbol == "" {
			continue
		}
		if f.File != "" {
			return shorten(fmt.Sprintf("%s (%s:%d)", f.Symbol, path.Base(f.File), f.Line))
		}
		return shorten(f.Symbol)
	}
	return ""
}
