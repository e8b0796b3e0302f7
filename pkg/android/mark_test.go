package android

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/testdata/phones"
)

// opener returns a function that opens a session on a phone, and closes it with its run if it can be opened.
func (d *desk) opener(serial string) func() (func(), error) {
	d.t.Helper()
	d.values["serial"] = serial
	b := d.backend()
	return func() (func(), error) {
		opened, err := b.open(within(d.t), d.session())
		return func() {
			if opened != nil {
				_ = opened.Close(within(d.t))
			}
			if err := b.Close(within(d.t)); err != nil {
				d.t.Error(err)
			}
		}, err
	}
}

// reached returns a phone that is reached and not prepared.
func (d *desk) reached(serial string) *phone {
	d.t.Helper()
	server, err := adb.Find(d.adb.Env())
	if err != nil {
		d.t.Fatal(err)
	}
	return &phone{Device: server.Device(serial), limits: d.backend().limits, log: d.log, changes: &changes{}}
}

func TestPhonesOfOneImageAreTwo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first := d.phone(phones.AndroidOptions{Server: serverVersion, Image: "same"})
	second := d.phone(phones.AndroidOptions{Server: serverVersion, Image: "same"})
	for _, p := range []*phones.Android{first, second} {
		closeIt, err := d.opener(p.Addr())()
		if err != nil {
			t.Error(err)
		}
		defer wantRestored(t, d, p)
		defer closeIt()
	}
}

// Of sessions that begin at once on two connections to one phone, one has it.
func TestConnectionsToOnePhoneAreOne(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{})
	other, err := p.AlsoListen(within(t), "127.0.0.1:0")
	if err == nil {
		err = d.adb.Connect(within(t), other)
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		var wait sync.WaitGroup
		var errs [6]error
		var closers [6]func()
		start := make(chan struct{})
		for i := range errs {
			open := d.opener([]string{p.Addr(), other}[i%2])
			wait.Go(func() {
				<-start
				closers[i], errs[i] = open()
			})
		}
		close(start)
		wait.Wait()
		opened := 0
		for _, err := range errs {
			if err == nil {
				opened++
				continue
			}
			wantFault(t, err, fault.Device)
			if said := err.Error(); !strings.Contains(said, "is used by another trailblaze") && !strings.Contains(said, "is the same device as") {
				t.Error(err)
			}
		}
		if opened != 1 {
			t.Errorf("%d sessions use the phone, want 1", opened)
		}
		for _, closeIt := range closers {
			closeIt()
		}
	}
	wantRestored(t, d, p)
}

// A mark of a session that was killed stays, and one that is incomplete is written again.
func TestMarksThatWereLeft(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{
		"whole": "mkdir " + markFolder + " && echo LEFT >" + markFile, "empty": "mkdir " + markFolder + " && touch " + markFile,
		"folder": "mkdir " + markFolder,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			p := d.phone(phones.AndroidOptions{})
			ph := d.reached(p.Addr())
			if _, err := runLine(within(t), ph.Device, command); err != nil {
				t.Fatal(err)
			}
			mark, refused, err := ph.mark(within(t))
			again, _, errAgain := ph.mark(within(t))
			if errors.Join(err, errAgain) != nil || refused != "" || mark == "" || again != mark || (name == "whole") != (mark == "LEFT") {
				t.Errorf("marks %q, %q, refused %q, %v %v", mark, again, refused, err, errAgain)
			}
		})
	}
}

// TestMarkIsRemovedMeanwhile: a session ends after another one has read its mark, and before that one has the lock.
func TestMarkIsRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{})
	ph := d.reached(p.Addr())
	if _, err := runLine(within(t), ph.Device, "mkdir "+markFolder+" && echo LEFT >"+markFile); err != nil {
		t.Fatal(err)
	}
	p.After("cat "+markFile, func() { p.Files().Remove(markFolder) })
	if err := ph.acquire(within(t), d.folder); err != nil {
		t.Fatal(err)
	}
	left, err := mobile.Lock(d.folder, "LEFT", "", "")
	mark, errMark := ph.readMark(within(t))
	if errors.Join(err, errMark) != nil || mark == "" || mark == "LEFT" {
		t.Fatalf("the mark is %q, %v %v", mark, err, errMark)
	}
	_ = left.Close()
	if _, err := mobile.Lock(d.folder, mark, "", ""); err == nil {
		t.Error("the mark that is on the phone is not locked")
	}
	if err := ph.release(within(t)); err != nil {
		t.Error(err)
	}
}

func TestPhonesWithoutPlaceForAMark(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first := d.phone(phones.AndroidOptions{Server: serverVersion, Image: "same"})
	second := d.phone(phones.AndroidOptions{Server: serverVersion})
	emulator := d.phone(phones.AndroidOptions{Server: serverVersion, Image: "same"})
	if _, err := runLine(within(t), d.reached(emulator.Addr()).Device, "setprop ro.boot.qemu 1"); err != nil {
		t.Fatal(err)
	}
	other, err := first.AlsoListen(within(t), "127.0.0.1:0")
	if err == nil {
		err = d.adb.Connect(within(t), other)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*phones.Android{first, second, emulator} {
		p.Files().Refuse("/data/local/tmp")
		closeIt, err := d.opener(p.Addr())()
		if err != nil {
			t.Error(err)
		}
		defer wantRestored(t, d, p)
		defer closeIt()
	}
	if !d.logged("warn: no file can be written to /data/local/tmp of " + first.Addr() + ": mkdir: '" + markFolder + "': Permission denied") {
		t.Errorf("logs: %v", d.logs)
	}
	closeIt, err := d.opener(other)()
	wantFault(t, err, fault.Device, "is the same device as the Android device "+first.Addr())
	closeIt()
}
