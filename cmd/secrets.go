package cmd

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
)

// shortSecretHint is the hint for the warnings of [redact.Redactor.Warnings].
const shortSecretHint = "use a longer value, or expect it in output, logs and reports"

// readSecrets returns the values of --secret, by name, and redacts them from now on.
func (p *program) readSecrets(ctx context.Context, flags []string) (map[string]string, error) {
	out := map[string]string{}
	var errs []error
	for _, flag := range flags {
		name, value, err := p.secret(ctx, flag)
		if err == nil && value == "" {
			err = fault.New(fault.Misuse, "", "--secret %s is empty", name)
		}
		out[name] = value
		errs = append(errs, err)
	}
	p.redactor.Add(out)
	return out, errors.Join(errs...)
}

// secret returns one secret, from the environment, a file, or the flag itself.
func (p *program) secret(ctx context.Context, flag string) (name, value string, err error) {
	name, value, hasValue := strings.Cut(flag, "=")
	if p.serving != nil { // the command that starts the session has read it
		return name, p.serving.request.Secrets[name], nil
	}
	switch file, fromFile := strings.CutPrefix(value, "@"); {
	case name == "":
		return "", "", fault.New(fault.Misuse, "write --secret NAME, NAME=@FILE or NAME=VALUE", "--secret has no name")
	case !hasValue:
		v, ok := p.Getenv(name)
		if !ok {
			return name, "", fault.New(fault.Misuse, "set the variable, or write --secret "+name+"=@FILE",
				"--secret %s: the environment variable is not set", name)
		}
		return name, v, nil
	case fromFile:
		data, err := readSecretFile(ctx, p.abs(file))
		if err != nil {
			return name, "", fault.Wrap(fault.Misuse, err, "", "--secret "+name)
		}
		return name, strings.TrimRight(string(data), "\r\n"), nil
	default:
		return name, value, nil
	}
}

// maxSecret is the size in bytes of the largest secret in a file. Redacting one takes about a thousand times as much
// memory.
const maxSecret = 64 << 10

// readSecretFile returns the content of a file of at most maxSecret bytes. Unlike other files that flags name, it may
// be a pipe, as in --secret TOKEN=@<(command): that is read until its writer closes it or ctx ends. A pipe without a
// writer is empty.
func readSecretFile(ctx context.Context, path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// This fails for a regular file, which never makes a reader wait.
	stop := context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Now()) })
	defer stop()
	data, err := io.ReadAll(io.LimitReader(file, maxSecret+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	case len(data) > maxSecret:
		return nil, &os.PathError{Op: "read", Path: path, Err: files.TooLargeError{Limit: maxSecret}}
	}
	return data, nil
}
