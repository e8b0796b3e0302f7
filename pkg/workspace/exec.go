package workspace

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/builtin"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

const (
	// execLimit is how long a program may run unless its call has a timeout.
	execLimit = 2 * time.Minute
	// maxExecOutput is how many bytes of its stdout are kept.
	maxExecOutput = 1 << 20
)

// exec returns what runs the programs of calls of tool.Exec, with everything that they start, in the project root.
func (w *Workspace) exec(redactor *redact.Redactor) builtin.Runner {
	return func(ctx context.Context, call tool.Call, p builtin.Program) (tool.Result, error) {
		var output bytes.Buffer
		limit := cmp.Or(call.Timeout, execLimit)
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		process, err := w.Supervisor.Start(limited, spawn.Spec{
			Name: tool.Exec, Command: p.Name, Args: p.Args, Dir: w.Project.Root, Env: w.Env, Redact: redactor.Writer,
			Terminate: true,
			Stdout: func(_ context.Context, stdout io.Reader) {
				_, _ = io.Copy(&output, io.LimitReader(stdout, maxExecOutput+text.SecretMargin))
			},
		})
		if err != nil {
			return execFailed(err), nil
		}
		_ = process.Stdin().Close()
		select {
		case <-process.Done():
		case <-limited.Done():
		}
		exit := process.ExitError() // nil while it runs
		if err := process.Stop(limited); err != nil {
			return execFailed(err), nil
		}
		switch {
		case exit == nil && ctx.Err() != nil:
			return tool.Result{}, fault.Wrap(fault.Cancelled, context.Cause(ctx), "", tool.Exec+": cancelled")
		case exit == nil:
			return execFailed(process.Explain(fault.New(fault.CallTimeout, "raise the `timeout:` of the call", "%s did not end within %s", p.Name, limit))), nil
		}
		explained := process.Explain(fault.New(fault.ToolFailed, "", "%s %s", p.Name, exit.Message))
		if explained.Details["exit"] != 0 {
			return execFailed(explained), nil
		}
		return execPassed(output.String(), redactor), nil
	}
}

func execPassed(output string, redactor *redact.Redactor) tool.Result {
	r := tool.Result{OK: true}
	if len(output) > maxExecOutput {
		output = text.RedactedHead(output, maxExecOutput, redactor.Text)
		r.Notes = []string{fmt.Sprintf("only the first %d KiB of its output are kept", maxExecOutput>>10)}
	}
	r.Text = strings.TrimRight(strings.ToValidUTF8(output, "�"), "\r\n")
	return r
}

// execFailed returns the result of a program that did not start or did not end well. The device and the servers of the
// session have not failed.
func execFailed(err error) tool.Result {
	e := fault.As(err)
	kind := fault.ToolFailed
	if e.Kind == fault.CallTimeout {
		kind = e.Kind
	}
	return tool.Result{Kind: kind, Text: tool.Exec + ": " + e.Message, Hint: e.Hint, Details: e.Details}
}
