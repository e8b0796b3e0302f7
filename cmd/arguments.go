package cmd

import (
	"strings"

	"github.com/trailblaze/trailblaze/pkg/device"
)

// arguments are the arguments of the program, for what has to be known before cobra parses them and when it rejects
// them.
type arguments []string

// values returns the values of a flag, such as --secret, in order.
func (args arguments) values(flag string) []string {
	var values []string
	for i, arg := range args {
		name, value, hasValue := strings.Cut(arg, "=")
		if name != flag {
			continue
		}
		if !hasValue && i+1 < len(args) {
			value = args[i+1]
		}
		values = append(values, value)
	}
	return values
}

// last returns the last value of a flag, empty without one.
func (args arguments) last(flag string) string {
	values := args.values(flag)
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// deviceOptions returns the options of devices among the arguments, by the names of their flags.
func (args arguments) deviceOptions(options []device.Option) map[string]string {
	given := map[string]string{}
	for _, o := range options {
		if value := args.last("--" + o.Flag); value != "" && o.Flag != "" {
			given[o.Flag] = value
		}
	}
	return given
}

// secrets returns the values of --secret among the arguments, by name, also of one that is written with a single dash,
// because cobra's errors quote them. env looks up those of the environment. It does not read files, since some can be
// read only once.
func (args arguments) secrets(env func(name string) string) map[string]string {
	out := map[string]string{}
	for _, secret := range append(args.values("--secret"), args.values("-secret")...) {
		name, value, hasValue := strings.Cut(secret, "=")
		switch {
		case !hasValue:
			out[name] = env(name)
		case !strings.HasPrefix(value, "@"):
			out[name] = value
		}
	}
	return out
}
