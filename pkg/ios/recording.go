package ios

import (
	"context"
	"io"
	"path/filepath"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

// recordUntilClosed records until its pipe closes, also because this process was killed, and then writes the video. A
// byte 0 before the video says that the recording has started: simctl says so on stderr, and ends at SIGINT.
// The file of the video is the last argument.
const recordUntilClosed = `for video; do :; done
"$@" 2>"$video.log" 3<&- 4>&- &
recorder=$!
until grep -q "Recording started" "$video.log"; do
	kill -0 "$recorder" 2>/dev/null || { cat "$video.log" >&2; exit 1; }
	sleep 0.1
done
printf '\0' >&4
read -r _ <&3
kill -INT "$recorder"
wait "$recorder"
cat "$video" >&4`

// maxVideo is how much of a video is read, in bytes.
const maxVideo = 256 << 20

// StartRecording implements mobile.Recorder.
func (d *driver) StartRecording(ctx context.Context) error {
	if d.simulator == nil {
		return onlySimulator("recording the screen", "record it on the phone itself, from its control centre")
	}
	program, err := shellProgram(d.options, "simctl io", recordUntilClosed,
		[]string{"xcrun", "simctl", "io", d.simulator.udid, "recordVideo", "--codec=h264", "--force"})
	if err != nil {
		return err
	}
	program.Args = append(program.Args, filepath.Join(program.Folder, "video.mp4"))
	process, err := d.options.programs.Start(ctx, program)
	if err != nil {
		return err
	}
	started := make(chan error, 1)
	go func() { // ends when the process has exited
		_, err := io.ReadFull(process.Out, make([]byte, 1))
		started <- err
	}()
	ctx, cancel := context.WithTimeout(ctx, d.limits.call)
	defer cancel()
	select {
	case err = <-started:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		err = explainEnd(ctx, process, fault.New(fault.ToolFailed, "", "the recording of the simulator did not start"))
		d.endRecorder(ctx, process)
		return err
	}
	d.recorder = &process
	return nil
}

// StopRecording implements mobile.Recorder.
func (d *driver) StopRecording(ctx context.Context) ([]byte, error) {
	process := *d.recorder
	d.recorder = nil
	defer d.endRecorder(ctx, process)
	if err := process.In.Close(); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { d.endRecorder(ctx, process) })
	defer stop()
	video, err := io.ReadAll(io.LimitReader(process.Out, maxVideo+1))
	switch {
	case err != nil:
		return nil, fault.Wrap(fault.ToolFailed, err, "", "read the video of the simulator")
	case len(video) > maxVideo:
		return nil, fault.New(fault.ToolFailed, "record less", "the video has more than %d MiB", maxVideo>>20)
	case len(video) == 0:
		return nil, explainEnd(ctx, process, fault.New(fault.ToolFailed, "", "the simulator has recorded nothing"))
	}
	return video, nil
}

// explainEnd explains a failure of a process that is ending, with what it says until it has ended.
func explainEnd(ctx context.Context, process device.PipedProcess, failure *fault.Error) error {
	select {
	case <-process.Done():
	case <-ctx.Done():
	}
	return process.Explain(failure)
}

// endRecorder ends a recording with all that belongs to it. Its video is lost.
func (d *driver) endRecorder(ctx context.Context, process device.PipedProcess) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.limits.close)
	defer cancel()
	_ = process.In.Close()
	_ = process.Stop(ctx) // the recording is not worth a failure
	_ = process.Out.Close()
}

var _ mobile.Recorder = (*driver)(nil)
