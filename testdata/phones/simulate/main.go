// Command simulate serves a simulated Android phone, a simulated iPhone, or both, until a signal. It prints how to
// reach them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/trailblaze/trailblaze/testdata/phones"
)

// served says which phones are served, and how.
type served struct {
	android, also, twin, iphone string // addresses, empty for none
	emulator                    int    // port of its console; 0 for none
	server                      string
	connect                     bool
}

func main() {
	var s served
	flag.StringVar(&s.android, "android", "", "serve an Android phone for adb at this address, such as 127.0.0.1:5599")
	flag.StringVar(&s.also, "also", "", "serve the Android phone at this address, too, as by cable and by network")
	flag.StringVar(&s.twin, "twin", "", "serve a second Android phone of the same image at this address")
	flag.StringVar(&s.iphone, "iphone", "", "serve WebDriverAgent at this address, such as 127.0.0.1:8100")
	flag.IntVar(&s.emulator, "emulator", 0, "serve an Android phone as the emulator with its console at this port does; ANDROID_ADB_SERVER_PORT is told")
	flag.StringVar(&s.server, "server", "", "version of the UiAutomator2 server that is installed, such as 10.6.6")
	flag.BoolVar(&s.connect, "connect", false, "connect the Android phones to the adb server with the adb program")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := s.serve(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "simulate:", err)
		stop()
		os.Exit(1)
	}
}

// serve serves the phones that have an address, or an Android phone and an iPhone at free ones, until ctx ends.
func (s served) serve(ctx context.Context, out io.Writer) error {
	android, iphone := s.android, s.iphone
	if s.emulator != 0 {
		android = fmt.Sprint("127.0.0.1:", s.emulator+1)
	}
	if android+iphone+s.also+s.twin == "" {
		android, iphone = "127.0.0.1:0", "127.0.0.1:0"
	}
	if android != "" {
		closePhone, err := s.startAndroid(ctx, out, android, s.also)
		if err != nil {
			return err
		}
		defer closePhone()
	}
	if s.emulator != 0 {
		if err := announce(ctx, s.emulator+1); err != nil {
			return err
		}
	}
	if s.twin != "" {
		closePhone, err := s.startAndroid(ctx, out, s.twin, "")
		if err != nil {
			return err
		}
		defer closePhone()
	}
	if iphone != "" {
		p, err := phones.StartIPhone(ctx, phones.IPhoneOptions{Address: iphone})
		if err != nil {
			return err
		}
		defer func() { report(out, p.UnknownRoutes()) }()
		defer p.Close()
		fmt.Fprintf(out, "simulated iPhone: %s\n", p.URL())
	}
	<-ctx.Done()
	return nil
}

// announce tells the adb server of an emulator, as emulators do.
func announce(ctx context.Context, port int) error {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", "127.0.0.1:"+os.Getenv("ANDROID_ADB_SERVER_PORT"))
	if err != nil {
		return err
	}
	request := fmt.Sprint("host:emulator:", port)
	_, err = fmt.Fprintf(c, "%04x%s", len(request), request)
	return errors.Join(err, c.Close())
}

// startAndroid serves an Android phone at an address, and at a second one if also is not empty.
func (s served) startAndroid(ctx context.Context, out io.Writer, address, also string) (closePhone func(), err error) {
	p, err := phones.StartAndroid(ctx, phones.AndroidOptions{Address: address, Server: s.server, Image: "IMAGE", AVD: os.Getenv("SIMULATED_AVD")})
	if err != nil {
		return nil, err
	}
	serials := []string{p.Addr()}
	closePhone = func() {
		if s.connect {
			for _, serial := range serials {
				_ = adb(context.WithoutCancel(ctx), out, "disconnect", serial)
			}
		}
		p.Close()
		report(out, append(p.UnknownCommands(), p.UnknownRoutes()...))
	}
	if also != "" {
		serial, err := p.AlsoListen(ctx, also)
		if err != nil {
			closePhone()
			return nil, err
		}
		serials = append(serials, serial)
	}
	for _, serial := range serials {
		fmt.Fprintf(out, "simulated Android phone: adb connect %s\n", serial)
		if !s.connect {
			continue
		}
		_ = adb(ctx, io.Discard, "disconnect", serial) // a simulation that was killed leaves an offline device
		if err := adb(ctx, out, "connect", serial); err != nil {
			closePhone()
			return nil, err
		}
	}
	return closePhone, nil
}

// report prints what programs wanted and the simulation does not know.
func report(out io.Writer, unknown []string) {
	for _, what := range unknown {
		fmt.Fprintf(out, "not simulated: %s\n", what)
	}
}

// adb runs the adb program, which starts its server if none runs.
func adb(ctx context.Context, out io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, "adb", args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = time.Second // the server that it starts may have its output
	return cmd.Run()
}
