package web

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// rememberCommands put what an element shows into memory.
func rememberCommands() []command {
	properties := device.RememberProperties + ", " + syntax.ElementProperties()
	return []command{
		rememberCommand(tool.RememberText, "Keeps the text that the first element that matches shows, as soon as it shows one, in memory.",
			device.RememberPattern+properties),
		rememberCommand(tool.RememberNumber, "Keeps the first number that the first element that matches shows, as soon as it shows one, in memory.",
			properties),
	}
}

func rememberCommand(name, description, properties string) command {
	run := func(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
		read, err := webGetText(ctx, p, device.RememberArguments(name, args))
		if err != nil || !read.OK {
			return read, err
		}
		result := device.Remember(name, read.Text, args)
		result.Notes = read.Notes
		return result, nil
	}
	return newCommand(name, description, properties, run, "variable").checkedBy(func(args syntax.Arguments) error {
		if err := device.CheckRemember(args); err != nil {
			return err
		}
		return checkGetText(args)
	})
}
