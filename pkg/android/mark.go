package android

import (
	"cmp"
	"context"
	"crypto/rand"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

// markFile has a random text while a session uses the phone. By it sessions know the phone, over whatever they reach
// it: serial numbers and other ids are those of the image from which several emulators or containers were started.
const (
	markFolder = "/data/local/tmp/trailblaze-phone"
	markFile   = markFolder + "/id"
)

// acquire excludes other sessions of the user from the phone until release. Without a folder for locks it does nothing.
func (p *phone) acquire(ctx context.Context, folder string) error {
	if folder == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.limits.info)
	defer cancel()
	for {
		mark, refused, err := p.mark(ctx)
		if err == nil && mark == "" {
			p.noteUnmarked(refused)
			mark, err = p.number(ctx)
		}
		if err == nil {
			p.lock, err = mobile.Lock(folder, mark, "the Android device "+p.Serial(), "name another device with --serial")
		}
		if err != nil || p.changes.unsaved {
			return err
		}
		now, err := p.readMark(ctx)
		if err != nil || now == mark {
			return err
		}
		_ = p.lock.Close() // the session that left the mark has ended meanwhile, and removed it
	}
}

// release lets other sessions use the phone.
func (p *phone) release(ctx context.Context) error {
	if p.lock == nil {
		return nil
	}
	_, err := run(ctx, p.Device, "rm", "-rf", markFolder)
	_ = p.lock.Close()
	return err
}

// mark returns the mark of the phone, which it leaves if there is none. refused says why none can be left.
func (p *phone) mark(ctx context.Context) (mark, refused string, err error) {
	const tries = 20
	makeFolder := "mkdir " // succeeds for one session only
	for i := range tries {
		if mark, err := p.readMark(ctx); mark != "" || err != nil {
			return mark, "", err
		}
		if i == tries-1 {
			makeFolder = "mkdir -p " // the session that made it was killed
		}
		output, err := p.Shell(ctx, makeFolder+markFolder+" && echo "+rand.Text()+" >"+markFile+" || [ -d "+markFolder+" ]")
		if err != nil || output.Exit != 0 {
			return "", outputText(string(output.Stderr) + string(output.Stdout)), err
		}
		if i > 0 { // another session is about to write it
			if err := act.Pause(ctx, p.limits.poll); err != nil {
				return "", "", err
			}
		}
	}
	if mark, err = p.readMark(ctx); mark == "" {
		refused = "it is full"
	}
	return mark, refused, err
}

// readMark returns the mark of the phone, empty if there is none.
func (p *phone) readMark(ctx context.Context) (string, error) {
	out, status, err := runAny(ctx, p.Device, "cat", markFile)
	if err != nil || status != 0 {
		return "", err
	}
	return strings.TrimSpace(out), nil
}

func (p *phone) noteUnmarked(why string) {
	p.changes.unsaved = true
	p.log("warn", "no file can be written to /data/local/tmp of "+p.Serial()+": "+why+"; phones with the same serial number and "+
		"android_id are taken for one, and what a session changes stays when trailblaze is killed", "make room in /data, or restart the phone")
}

// number returns the serial number of a phone, and its adb serial if it has none or is an emulator: those have the
// serial number of their image.
func (p *phone) number(ctx context.Context) (string, error) {
	const line = "getprop ro.kernel.qemu; getprop ro.boot.qemu; getprop ro.serialno; getprop ro.boot.serialno; settings get secure android_id"
	output, err := p.Shell(ctx, line)
	if err != nil {
		return "", err
	}
	lines := linesOf(string(output.Stdout), 5)
	emulator, number := lines[0] == "1" || lines[1] == "1", cmp.Or(lines[2], lines[3])
	if emulator || number == "" || number == "unknown" {
		return p.Serial(), nil
	}
	return number + " " + lines[4], nil // phones of some makers have one serial number in common, too
}
