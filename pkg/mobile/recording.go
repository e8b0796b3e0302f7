package mobile

import (
	"context"
	"fmt"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Recorder is a Driver that can record its screen. A recording that still runs is ended when the driver is closed.
type Recorder interface {
	// StartRecording returns when the recording runs.
	StartRecording(ctx context.Context) error
	// StopRecording returns a video in the format MP4.
	StopRecording(ctx context.Context) ([]byte, error)
}

// recordingCommands are the commands that record the screen.
func recordingCommands() []command {
	return []command{
		newCommand("mobile_startRecording", "Starts to record the screen as a video.", "", startRecording),
		newCommand("mobile_stopRecording", "Ends the recording, and keeps the video with the session. Returns its path.", "", stopRecording),
	}
}

const noRecording = "captureScreen keeps a picture, and `--trace` pictures of every call"

func startRecording(ctx context.Context, d *phone, _ device.Arguments) (tool.Result, error) {
	if d.recording.Load() {
		return tool.Result{}, fault.New(fault.ToolFailed, "end it with mobile_stopRecording", "the screen is being recorded")
	}
	err := perform(ctx, d, "record the screen", noRecording, func(ctx context.Context, r Recorder) error { return r.StartRecording(ctx) })
	d.recording.Store(err == nil)
	return success("records the screen"), err
}

func stopRecording(ctx context.Context, d *phone, _ device.Arguments) (tool.Result, error) {
	if !d.recording.Load() {
		return tool.Result{}, fault.New(fault.ToolFailed, "start it with mobile_startRecording", "the screen is not being recorded")
	}
	video, withheld, err := d.endRecording(ctx, d.driver)
	if err != nil {
		return tool.Result{}, err
	}
	if withheld != "" {
		d.notes = append(d.notes, "no recording: "+withheld)
		return success("ended the recording, which is not kept: %s", withheld), nil
	}
	path, err := d.session.Keep(video)
	if err != nil {
		return tool.Result{}, fmt.Errorf("keep the recording: %w", err)
	}
	return success("%s", path), nil
}

// endRecording ends the recording. withheld says why it must not be kept: nobody can check a video for secrets.
func (d *phone) endRecording(ctx context.Context, driver *serial) (video device.Artifact, withheld string, err error) {
	d.recording.Store(false)
	data, err := exclusive(ctx, driver, func(ctx context.Context, driver Driver) ([]byte, error) {
		recorder, ok := driver.(Recorder)
		if !ok {
			return nil, fault.New(fault.Bug, "", "the device that is recorded cannot end it")
		}
		return recorder.StopRecording(ctx)
	})
	d.given.mu.Lock()
	defer d.given.mu.Unlock()
	if d.given.any {
		withheld = "a call gave the device a secret, which the video may show"
	}
	return device.Artifact{Name: "recording.mp4", Title: "the screen as a video", Data: data}, withheld, explainError(err)
}

// recordingEvidence returns the video of a recording that runs when a trail fails, and what is said about it.
func (d *phone) recordingEvidence(ctx context.Context, driver *serial) (device.Artifact, string) {
	if !d.recording.Load() {
		return device.Artifact{}, ""
	}
	video, withheld, err := d.endRecording(ctx, driver)
	switch {
	case err != nil:
		return device.Artifact{}, fmt.Sprintf("No recording: %v\n", err)
	case withheld != "":
		return device.Artifact{}, fmt.Sprintf("No recording: %s\n", withheld)
	}
	return video, ""
}
