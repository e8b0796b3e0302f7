package mobile

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// rememberCommands put what an element shows into memory.
func rememberCommands(p Platform) []command {
	properties := device.RememberProperties + ", " + elementProperties(p)
	return []command{
		rememberCommand(p, tool.RememberText, "Keeps the text that an element shows, as soon as it shows one, in memory.",
			device.RememberPattern+properties),
		rememberCommand(p, tool.RememberNumber, "Keeps the first number that an element shows, as soon as it shows one, in memory.", properties),
	}
}

func rememberCommand(p Platform, name, description, properties string) command {
	run := func(ctx context.Context, d *phone, t target, a device.Arguments) (tool.Result, error) {
		read, err := getText(ctx, d, t, device.RememberArguments(name, a))
		if err != nil || !read.OK {
			return read, err
		}
		return device.Remember(name, read.Text, a), nil
	}
	c := elementCommand(p, name, description, properties, elements.targetOf, run)
	c.InputSchema = newCommand(name, description, properties, nil, "variable").InputSchema
	named := getTextCommand(p).Check
	c.Check = func(args map[string]any) error {
		if err := device.CheckRemember(args); err != nil {
			return err
		}
		return named(args)
	}
	return c
}
