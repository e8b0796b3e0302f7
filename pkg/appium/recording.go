package appium

import (
	"context"
	"encoding/base64"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

// StartRecording implements mobile.Recorder.
func (d *driver) StartRecording(ctx context.Context) error {
	err := d.Act(ctx, "record the screen", func(ctx context.Context) error {
		return d.Post(ctx, "/appium/start_recording_screen", map[string]any{"options": map[string]any{"forceRestart": true}}, nil)
	})
	return d.refusal("recording the screen", err)
}

// StopRecording implements mobile.Recorder.
func (d *driver) StopRecording(ctx context.Context) ([]byte, error) {
	var encoded string
	err := d.Act(ctx, "end the recording", func(ctx context.Context) error {
		return d.Post(ctx, "/appium/stop_recording_screen", map[string]any{"options": map[string]any{}}, &encoded)
	})
	if err != nil {
		return nil, d.refusal("recording the screen", err)
	}
	video, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(video) == 0 {
		return nil, fault.New(fault.ToolFailed, "the log of the server says why", "%s sent no video", d.Server)
	}
	return video, nil
}

var _ mobile.Recorder = (*driver)(nil)
