package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

// scopeFlags are the flags that select target, driver and agent mode.
type scopeFlags struct {
	target, driver, platform, agent, size string

	command *cobra.Command // the command with the flags, nil for none
}

// drivers returns the keys of the drivers whose devices this program supports.
func (p *program) drivers() []string {
	var keys []string
	for _, k := range p.Devices {
		keys = append(keys, k.Drivers...)
	}
	return keys
}

func (f *scopeFlags) bind(p *program, c *cobra.Command) {
	f.command = c
	p.bindDevices(c)
	flags := c.Flags()
	flags.StringVar(&f.target, "target", "", "`ID` of the target (env TRAILBLAZE_TARGET)")
	flags.StringVar(&f.driver, "driver", "",
		"`KEY` of the driver (env TRAILBLAZE_DRIVER): "+strings.Join(p.drivers(), ", "))
	flags.StringVar(&f.platform, "platform", "",
		"`NAME` of the platform, whose default driver is used: "+strings.Join(scope.PlatformNames(), ", "))
	flags.StringVar(&f.agent, "agent", "", "agent mode: `host|on-device` (default host)")
	flags.StringVar(&f.size, "device-size", "", "size of the device in pixels, `WIDTHxHEIGHT` (default: unknown)")
	complete(c, "driver", p.drivers())
	complete(c, "platform", scope.PlatformNames())
	complete(c, "agent", scope.AgentModes())
}

// complete registers the values of a flag for completion in shells.
func complete(c *cobra.Command, flag string, values []string) {
	// It only fails for a flag that does not exist; a test covers every flag that is completed.
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// unknownName is the error for a name that a flag does not know.
func unknownName(flag, name string, known []string) error {
	return fault.New(fault.Misuse, fault.DidYouMean(name, known),
		"--%s: unknown %s %q; known: %s", flag, flag, name, strings.Join(known, ", "))
}

// pixels returns the size of --device-size, 0 without it.
func (f *scopeFlags) pixels() (width, height int, err error) {
	if f.size == "" {
		return 0, 0, nil
	}
	width, height, ok := config.ParseSize(f.size)
	if !ok {
		return 0, 0, fault.New(fault.Misuse, "write it like 1080x2400",
			"--device-size: %q is not a size in pixels", f.size)
	}
	return width, height, nil
}

// choice returns the choice of the flags.
func (f *scopeFlags) choice(p *program) (workspace.Choice, error) {
	width, height, err := f.pixels()
	return workspace.Choice{
		Target: f.target, Driver: f.driver, Platform: f.platform, AgentMode: f.agent, Width: width, Height: height,
		Options: p.setOptions(f.command), LogStderr: p.verbose > 1,
	}, err
}

// sessionFlags are the flags of a session of one's own.
type sessionFlags struct {
	scopeFlags
	classifiers, memory, secrets []string
}

func (f *sessionFlags) bind(p *program, c *cobra.Command) {
	f.scopeFlags.bind(p, c)
	flags := c.Flags()
	flags.StringSliceVar(&f.classifiers, "classifier", nil,
		"classifiers of the device, broad first, such as `android,phone` or android-phone (default: the platform)")
	flags.StringArrayVar(&f.memory, "memory", nil, "set `NAME=VALUE` in the session's memory (repeatable)")
	flags.StringArrayVar(&f.secrets, "secret", nil,
		"secret `NAME` from the environment, NAME=@FILE or NAME=VALUE (repeatable); never printed, logged or recorded")
}

// choice returns the choice of the flags. secrets are the values of --secret, by name.
func (f *sessionFlags) choice(p *program, secrets map[string]string) (workspace.Choice, error) {
	choice, err := f.scopeFlags.choice(p)
	if err == nil {
		choice.Memory, err = memoryValues(f.memory)
	}
	choice.Classifiers, choice.Secrets = f.classifiers, secrets
	return choice, err
}

// sessions returns the sessions of the project that flags select, and their scope.
func (p *program) sessions(ctx context.Context, f scopeFlags) (*workspace.Sessions, scope.Scope, error) {
	var choice workspace.Choice
	w, err := p.loadProject()
	if err == nil {
		choice, err = f.choice(p)
	}
	if err != nil {
		return nil, scope.Scope{}, err
	}
	s, err := w.Sessions(ctx, choice)
	if err != nil {
		return nil, scope.Scope{}, err
	}
	sc, err := s.Scope()
	return s, sc, err
}

// withHint appends a hint to a message.
func withHint(message, hint string) string {
	if hint == "" {
		return message
	}
	return message + "; " + hint
}

// flagNames returns the names of all flags of a command, inherited ones included.
func flagNames(c *cobra.Command) []string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	c.InheritedFlags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// memoryValues returns the values of --memory, by name.
func memoryValues(flags []string) (map[string]string, error) {
	values, err := pairs("memory", flags)
	for name := range values {
		if !trail.IsValueName(name) {
			return nil, fault.New(fault.Misuse,
				"use letters, digits, _, . and -, start with a letter or _; args is reserved for the trail's arguments",
				"--memory: %q is not a valid name", name)
		}
	}
	return values, err
}

// pairs returns the values of a flag of the form NAME=VALUE, by name.
func pairs(flag string, values []string) (map[string]string, error) {
	out := map[string]string{}
	for _, kv := range values {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			hint := fmt.Sprintf("write --%s NAME=VALUE", flag)
			return nil, fault.New(fault.Misuse, hint, "--%s: %q is not NAME=VALUE", flag, kv)
		}
		out[name] = value
	}
	return out, nil
}
