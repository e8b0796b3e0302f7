package cmd

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/doctor"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

// collectFlags are the flags of doctor for collecting what a device answers.
type collectFlags struct {
	file, device string
	withText     bool
}

// collect writes an archive of what a device answers. platforms are those of the flag.
func (cmd *checkCommands) collect(ctx context.Context, f collectFlags, platforms []scope.Platform) error {
	path := cmd.abs(f.file)
	if _, err := os.Lstat(path); err == nil {
		return fault.New(fault.Misuse, "name another file, or remove it", "--collect: %s exists already", f.file)
	}
	choice := workspace.Choice{}
	switch {
	case f.device != "":
		choice.Devices = []string{f.device}
	case len(platforms) == 1:
		choice.Platform = string(platforms[0])
	default:
		return fault.New(fault.Misuse, "add --platform android, --platform ios or --device NAME; `trailblaze device list` shows the devices",
			"--collect needs one device")
	}
	w, err := cmd.loadProjectIfAny()
	if err != nil {
		return err
	}
	s, err := w.Sessions(ctx, choice)
	if err != nil {
		return err
	}
	defer s.Close(context.WithoutCancel(ctx))
	request := s.Devices[0].Request
	request.FlagTarget, request.EnvTarget, request.ProjectTarget, request.Targets = "", "", "any", nil // it does not matter
	sc, err := scope.Resolve(request)
	if err != nil {
		return err
	}
	b, ok := s.Devices[0].BackendFor(sc.Driver.Key)
	collector, canCollect := b.Backend.(device.Collector)
	if !ok || !canCollect {
		return fault.New(fault.Misuse, "choose a phone or a tablet", "--collect: nothing can be collected of a device of driver %s", sc.Driver.Key)
	}
	defer logStop(ctx, cmd.notice)()
	return cmd.writeCollected(ctx, path, f, b, collector, w.Project.Root)
}

// writeCollected collects and writes the archive.
func (cmd *checkCommands) writeCollected(
	ctx context.Context, path string, f collectFlags, b session.Backend, collector device.Collector, root string,
) error {
	collection, err := collector.Collect(ctx, device.CollectOptions{
		Root: root, WithText: f.withText, Log: func(_, message, _ string) { cmd.notice(cmd.redactor.Text(message)) },
	})
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	collected := doctor.Collected{
		Collection: collection, Kind: b.Name, Version: cmd.Build.Version, Time: cmd.Now(), WithText: f.withText, Redact: cmd.redactor.Text,
	}
	if err := files.Replace(path, func(file *os.File) error { return collected.Write(file) }); err != nil {
		return fault.Wrap(fault.IO, err, "name a file in a folder that can be written", "--collect")
	}
	return cmd.printCollected(f.file, collection)
}

// collectView is the JSON output of doctor --collect.
type collectView struct {
	File    string         `json:"file"`
	Product string         `json:"product"`
	Answers int            `json:"answers"`
	Failed  []failedAnswer `json:"failed"`
}

// failedAnswer is a question that got no answer.
type failedAnswer struct {
	Question string `json:"question"`
	Error    string `json:"error"`
}

func (cmd *checkCommands) printCollected(file string, c device.Collection) error {
	view := collectView{File: file, Product: cmd.redactor.Text(c.Product), Failed: []failedAnswer{}}
	for _, a := range c.Answers {
		if a.Err == nil {
			view.Answers++
			continue
		}
		view.Failed = append(view.Failed, failedAnswer{cmd.redactor.Text(a.Question), cmd.redactor.Text(a.Err.Error())})
	}
	if cmd.json {
		return cmd.writeJSON(view)
	}
	fmt.Fprintf(cmd.Stdout, "wrote %s: %s of %s; please look through it before you send it\n", file, text.Count(view.Answers, "answer"),
		report.Clean(cmp.Or(view.Product, "the device")))
	for _, failed := range view.Failed {
		fmt.Fprintln(cmd.Stdout, "no answer to "+report.Clean(failed.Question+": "+failed.Error))
	}
	return nil
}
