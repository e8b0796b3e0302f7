package appium

import (
	"context"
	"encoding/json"

	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/mobile/source"
)

// SourceOptions returns the options with which the source of a device is read.
func SourceOptions(d mobile.Info) source.Options {
	return source.Options{Width: d.Width, Height: d.Height}
}

// ScreenOf returns what a source shows.
func ScreenOf(r source.Result) mobile.Screen {
	return mobile.Screen{Tree: r.Tree, Keyboard: r.Keyboard}
}

// IOSSource reads the screen of iOS as JSON. It raises the setting snapshotMaxDepth once when parts may be missing.
type IOSSource struct {
	Source func(ctx context.Context) (json.RawMessage, error)
	// Settings changes settings of WebDriverAgent.
	Settings func(ctx context.Context, settings map[string]any) error
	Log      func(level, message, hint string)

	depth int
}

// iosSettings are the settings of WebDriverAgent: the caller waits itself, and dialogs of the system are in the source.
func iosSettings(depth int) map[string]any {
	return map[string]any{
		"waitForIdleTimeout": 0, "animationCoolOffTimeout": 0, "respectSystemAlerts": true, "snapshotMaxDepth": depth,
	}
}

// The values of the setting snapshotMaxDepth: its default, and the one for a deeper tree, which takes longer.
const (
	normalDepth = 50
	largeDepth  = 200
)

// Prepare sends the settings.
func (s *IOSSource) Prepare(ctx context.Context) error { return s.setDepth(ctx, normalDepth) }

func (s *IOSSource) setDepth(ctx context.Context, depth int) error {
	s.depth = depth
	return s.Settings(ctx, iosSettings(depth))
}

// Read returns the source.
func (s *IOSSource) Read(ctx context.Context) (json.RawMessage, error) {
	data, err := s.Source(ctx)
	if err != nil || s.depth != normalDepth || !isCut(data, s.depth) {
		return data, err
	}
	err = s.setDepth(ctx, largeDepth)
	if err == nil {
		var whole json.RawMessage
		if whole, err = s.Source(ctx); err == nil {
			return whole, nil
		}
	}
	if !Answered(err) {
		return nil, err
	}
	s.Log("warn", "the screen has more levels than the device can read; the deepest are missing: "+err.Error(), "")
	return data, s.setDepth(ctx, normalDepth+1) // not normalDepth, so that it is not raised again
}

// isCut reports whether a JSON source is as deep as the setting snapshotMaxDepth allows, so that parts may be missing.
func isCut(source []byte, depth int) bool {
	level, quoted := 0, false
	for i := 0; i < len(source); i++ {
		switch c := source[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == '[' && !quoted: // of children, the only lists
			if level++; level >= depth-1 {
				return true
			}
		case c == ']' && !quoted:
			level--
		}
	}
	return false
}
