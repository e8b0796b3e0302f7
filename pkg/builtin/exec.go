package builtin

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Program is a program of this machine with its arguments.
type Program struct {
	Name string // a path relative to the project root, or a name on PATH
	Args []string
}

// Runner runs a program to its end. What it wrote to stdout is the text of the result.
type Runner func(ctx context.Context, call tool.Call, p Program) (tool.Result, error)

// ExecSource returns the tool [tool.Exec]. Without run it can only be listed.
func ExecSource(run Runner) discover.Source {
	schema := closedSchema(`"command": {"type": "string", "minLength": 1, "description": "The program: a name on PATH, or a path relative to the project root"},
		"args": {"type": "array", "items": {"type": "string"}, "description": "Its arguments, as they are"}`, []string{"command"})
	is := &discover.Tool{Name: tool.Exec, InputSchema: schema}
	execute := func(ctx context.Context, call tool.Call, args map[string]any) (tool.Result, error) {
		switch {
		case call.FromSandbox:
			return failure(fault.ToolFailed, "exec: scripts in the sandbox run no programs"), nil
		case call.FromURL:
			return failure(fault.ToolFailed, "exec: servers at a url, and processes that the session did not start, run no programs of this machine"), nil
		}
		p := Program{}
		p.Name, _ = args["command"].(string)
		list, _ := args["args"].([]any)
		for _, item := range list {
			text, _ := item.(string)
			p.Args = append(p.Args, text)
		}
		return run(ctx, call, p)
	}
	return discover.Source{
		Source: tool.Source{Kind: tool.FromBuiltin, Name: "trailblaze"}, Caller: caller{tool.Exec: {execute, is}},
		Tools: []tool.Advertised{{
			Name: tool.Exec, InputSchema: schema, Meta: map[string]any{"trailblaze/requiresHost": true},
			Description: "Runs a program of this machine to its end, without a shell, in the project root. The result is what it writes to stdout.",
		}},
	}
}
