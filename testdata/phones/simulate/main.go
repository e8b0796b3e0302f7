// Command simulate serves a simulated Android phone, a simulated iPhone, or both, until a signal. It prints how to
// reach them.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/trailblaze/trailblaze/testdata/phones"
)

func main() {
	android := flag.String("android", "", "serve an Android phone for adb at this address, such as 127.0.0.1:5599")
	iphone := flag.String("iphone", "", "serve WebDriverAgent at this address, such as 127.0.0.1:8100")
	server := flag.String("server", "", "version of the UiAutomator2 server that is installed, such as 10.6.6")
	connect := flag.Bool("connect", false, "connect the Android phone to the adb server with the adb program")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, os.Stdout, *android, *iphone, *server, *connect); err != nil {
		fmt.Fprintln(os.Stderr, "simulate:", err)
		stop()
		os.Exit(1)
	}
}

// serve serves the phones that have an address, or both at free ones, until ctx ends.
func serve(ctx context.Context, out io.Writer, android, iphone, server string, connect bool) error {
	if android == "" && iphone == "" {
		android, iphone = "127.0.0.1:0", "127.0.0.1:0"
	}
	if android != "" {
		p, err := phones.StartAndroid(ctx, phones.AndroidOptions{Address: android, Server: server})
		if err != nil {
			return err
		}
		defer func() { report(out, append(p.UnknownCommands(), p.UnknownRoutes()...)) }()
		defer p.Close()
		fmt.Fprintf(out, "simulated Android phone: adb connect %s\n", p.Addr())
		if connect {
			_ = adb(ctx, io.Discard, "disconnect", p.Addr()) // a simulation that was killed leaves an offline device
			if err := adb(ctx, out, "connect", p.Addr()); err != nil {
				return err
			}
			defer func() { _ = adb(context.WithoutCancel(ctx), out, "disconnect", p.Addr()) }()
		}
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
