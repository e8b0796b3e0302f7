package android

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

// recordedFile is where the phone writes a video, and recordedKey the key of the change that removes it.
const (
	recordedFile = "/data/local/tmp/trailblaze-recording.mp4"
	recordedKey  = "recording"
)

// recordedBits is the bit rate of videos. Those of three minutes, the longest, have at most 45 MB, which is less than
// adb.Device.Exec returns.
const recordedBits = 2_000_000

// recording is a video that the phone records.
type recording struct {
	process *adb.Process
	output  *strings.Builder // which the process may write until it is done
	pids    []string         // of screenrecord
}

// StartRecording implements mobile.Recorder. screenrecord ends by itself after three minutes.
func (d *driver) StartRecording(ctx context.Context) error {
	if err := d.changes.note(ctx, setting{recordedKey, "file"}); err != nil {
		return d.wrap(err)
	}
	others, err := d.recorders(ctx)
	if err != nil {
		return err
	}
	r := &recording{output: &strings.Builder{}}
	if r.process, err = d.Start(ctx, fmt.Sprintf("screenrecord --bit-rate %d %s", recordedBits, recordedFile), r.output); err != nil {
		return d.wrap(err)
	}
	started, err := act.Await(ctx, d.limits.unlock, d.limits.poll, func() (bool, error) {
		select {
		case <-r.process.Done():
			return false, fault.New(fault.ToolFailed, "some emulators and phones cannot record", "screenrecord on %s: %s", d.Serial(), outputText(r.output.String()))
		default:
		}
		now, err := d.recorders(ctx)
		r.pids = slices.DeleteFunc(now, func(pid string) bool { return slices.Contains(others, pid) })
		return len(r.pids) > 0, err
	})
	if err == nil && !started {
		err = fault.New(fault.ToolFailed, "", "screenrecord did not start on %s", d.Serial())
	}
	if err != nil {
		r.process.Close()
		return err
	}
	d.recording = r
	return nil
}

// recorders returns the ids of the processes that record the screen.
func (d *driver) recorders(ctx context.Context) ([]string, error) {
	out, err := d.runAny(ctx, "pidof", "screenrecord")
	return strings.Fields(out), err
}

// StopRecording implements mobile.Recorder. An interrupt lets screenrecord finish the file.
func (d *driver) StopRecording(ctx context.Context) ([]byte, error) {
	r := d.recording
	d.recording = nil
	if r == nil { // the phone was connected again
		return nil, fault.New(fault.ToolFailed, "start it again", "the recording has ended with the connection to the phone")
	}
	defer r.process.Close()
	if _, err := d.runAny(ctx, append([]string{"kill", "-2"}, r.pids...)...); err != nil {
		return nil, err
	}
	select {
	case <-r.process.Done():
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	data, err := d.Exec(ctx, "cat "+recordedFile)
	if err != nil {
		return nil, d.wrap(err)
	}
	if !strings.Contains(string(data[:min(len(data), 64)]), "ftyp") { // the first box of an MP4
		return nil, fault.New(fault.ToolFailed, "", "screenrecord on %s wrote no video: %s", d.Serial(), outputText(r.output.String()))
	}
	return data, nil
}

// endRecording ends a recording that nobody has ended. Its file is removed with what the session has changed.
func (d *driver) endRecording(ctx context.Context) {
	if d.recording == nil {
		return
	}
	if _, err := d.StopRecording(ctx); err != nil {
		d.log("warn", "the recording was not ended: "+err.Error(), "")
	}
}

var _ mobile.Recorder = (*driver)(nil)
