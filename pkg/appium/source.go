package appium

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/mobile/source"
)

// SourceOptions returns the options with which the source of a device is read.
func SourceOptions(d mobile.Info) source.Options {
	return source.Options{Width: d.Width, Height: d.Height}
}

// ScreenOf returns what a source shows.
func ScreenOf(r source.Result) mobile.Screen {
	return mobile.Screen{Tree: r.Tree, Keyboard: r.Keyboard, Bars: r.Bars}
}

// UnusedAttributes are those that WebDriverAgent is asked to leave out of its source as JSON. It would ask the system for
// some of them, element by element.
const UnusedAttributes = "frame,nativeFrame,accessible,nativeAccessibilityElement,focused,minValue,maxValue"

// IOSSource reads the screen of iOS as JSON, with as many levels as it has and the device can read.
type IOSSource struct {
	Source func(ctx context.Context) (json.RawMessage, error)
	// Settings changes settings of WebDriverAgent.
	Settings func(ctx context.Context, settings map[string]any) error
	Log      func(level, message, hint string)

	depth   int  // the index in depths
	limited bool // the device could not read deeper
}

// maxLevels is the depth of the largest trees that are read.
const maxLevels = 200

// depths returns the values of the setting snapshotMaxDepth: its default, the largest that works also where the tree is
// deeper, because XCTest fails at about 60 levels, and one for everything. A larger one takes longer.
func depths() []int { return []int{50, 62, maxLevels} }

// Prepare sends the settings for a device: the caller waits itself, and dialogs of the system are in the source. Which
// app is shown is decided in the middle of the screen, where dialogs are, and not near its corner, where notifications
// are. The point is that of the device as it is turned at the begin: see Turned.
func (s *IOSSource) Prepare(ctx context.Context, d mobile.Info) error {
	return s.Settings(ctx, map[string]any{
		"waitForIdleTimeout": 0, "animationCoolOffTimeout": 0, "respectSystemAlerts": true,
		detectionPoint: middle(d), maxDepth: depths()[0],
	})
}

// Turned sends the middle of the screen of a device that was turned: the one before may be outside of it.
func (s *IOSSource) Turned(ctx context.Context, d mobile.Info, o mobile.Orientation) error {
	if (o == mobile.Landscape) != (d.Width > d.Height) {
		d.Width, d.Height = d.Height, d.Width
	}
	return s.Settings(ctx, map[string]any{detectionPoint: middle(d)})
}

func middle(d mobile.Info) string { return fmt.Sprintf("%d,%d", d.Width/2, d.Height/2) }

const (
	maxDepth       = "snapshotMaxDepth"
	detectionPoint = "activeAppDetectionPoint"
)

func (s *IOSSource) setDepth(ctx context.Context, index int) error {
	s.depth = index
	return s.Settings(ctx, map[string]any{maxDepth: depths()[index]})
}

// Read returns the source.
func (s *IOSSource) Read(ctx context.Context) (json.RawMessage, error) {
	data, err := s.Source(ctx)
	for Answered(err) && s.depth > 0 && strings.Contains(err.Error(), "kAXError") { // it is deeper than those before
		if err = s.limit(ctx, err); err == nil {
			data, err = s.Source(ctx)
		}
	}
	for err == nil && !s.limited && s.depth < len(depths())-1 && isCut(data, depths()[s.depth]) {
		var deeper json.RawMessage
		if err = s.setDepth(ctx, s.depth+1); err == nil {
			deeper, err = s.Source(ctx)
		}
		if Answered(err) {
			return data, s.limit(ctx, err)
		}
		data = deeper
	}
	return data, err
}

// limit goes back to the depth before, for the whole session, because of an error.
func (s *IOSSource) limit(ctx context.Context, cause error) error {
	if !s.limited {
		s.Log("warn", "the screen has more levels than the device can read; the deepest are missing: "+cause.Error(), "")
	}
	s.limited = true
	if err := s.setDepth(ctx, s.depth-1); !Answered(err) {
		return err
	}
	return nil // the server refuses settings
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
