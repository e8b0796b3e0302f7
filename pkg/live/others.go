package live

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/trailblaze/trailblaze/pkg/callback"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// callbacksName is the file in the folder of a session that says where other processes make calls in it, as the _meta of
// a call says it to a server.
const callbacksName = "callbacks.json"

// stepFunc takes requests as [API] does.
type stepFunc = func(ctx context.Context, r StepRequest) (StepReport, error)

// listenForOthers answers processes that the session did not start until closeToOthers, and writes where they find it.
// Their requests go to the session, or to what [RedactedSession.PassOthersTo] was given.
func (r *RedactedSession) listenForOthers(ctx context.Context) (err error) {
	s := r.session
	if s.opts.CallbackToken == "" {
		return nil
	}
	if s.dir == "" {
		return fault.New(fault.IO, "make logsDir writable, or remove `callbacks` from trailblaze.yaml",
			"the session has no folder for the file that says where other processes make calls in it")
	}
	r.PassOthersTo(r.Step)
	s.callbacks, err = callback.ListenForOthers(context.WithoutCancel(ctx), s.inner.ID(), s.opts.CallbackToken, s.opts.Budgets.Others, s.callOfOther)
	if err != nil {
		return err
	}
	s.callbacks.OnReject(func(message string) { s.emit.Log("warn", "callback", message, "") })
	err = files.Replace(s.callbacksFile(), func(f *os.File) error {
		text, err := json.MarshalIndent(map[string]any{"baseUrl": s.callbacks.URL(), "sessionId": s.inner.ID()}, "", "  ")
		if err == nil {
			_, err = io.WriteString(f, string(text)+"\n")
		}
		return errors.Join(err, f.Chmod(0o600))
	})
	if err != nil {
		return fault.Wrap(fault.IO, err, "", "write where other processes make calls in the session")
	}
	return nil
}

// PassOthersTo has a function take the requests of other processes, such as one that makes them wait for their turn.
func (r *RedactedSession) PassOthersTo(step func(ctx context.Context, r StepRequest) (StepReport, error)) {
	r.session.others.Store(&step)
}

func (s *Session) callbacksFile() string {
	if s.callbacks == nil {
		return ""
	}
	return filepath.Join(s.dir, callbacksName)
}

// closeToOthers cancels the calls of other processes, and waits for them.
func (s *Session) closeToOthers() {
	if s.callbacks == nil {
		return
	}
	_ = os.Remove(s.callbacksFile())
	_ = s.callbacks.Close()
}

// callOfOther makes a call for another process.
func (s *Session) callOfOther(ctx context.Context, r callback.Request) callback.Response {
	if len(r.MemoryDelta)+len(r.MemoryDeletions) > 0 {
		return callback.Response{Error: "only a tool that the session called may send changes of memory; call rememberValue"}
	}
	delete(r.Args, tool.ReservedArg)
	step := *s.others.Load()
	report, err := step(ctx, StepRequest{Calls: []trail.Call{{Tool: r.Tool, Args: r.Args}}, Other: true})
	for _, warning := range report.Warnings {
		s.emit.Log("warn", "callback", warning, "")
	}
	if len(report.Calls) == 0 {
		return callback.Response{Error: withHint(err.Error(), fault.Hints(err)...)}
	}
	call := report.Calls[0]
	if !call.OK {
		return callback.Response{Error: withHint(call.Text, call.Hint)}
	}
	response := callback.Response{OK: true, Text: call.Text}
	if call.Structured != nil {
		response.Structured, _ = json.Marshal(call.Structured) // it was decoded from JSON
	}
	return response
}

func withHint(text string, hints ...string) string {
	for _, hint := range hints {
		if hint != "" {
			text += " (" + hint + ")"
		}
	}
	return text
}

// inLastStep returns a request of another process as one that continues the last step. It begins one that gets its text
// later if there is none yet, or if that is a check or another trail. While a replay waits at a step, whose repair the
// next calls are, it returns an error.
func (s *Session) inLastStep(r StepRequest) (StepRequest, error) {
	r.Kind, r.TextLater = trail.KindStep, true
	l := s.walk.Current
	if s.source != nil && !s.source.given && l.StepsLeft() {
		return r, fault.New(fault.Misuse, "make the call again when the replay has come to its end",
			"the call was not made: a replay has stopped in this session, and the calls that come now repair it")
	}
	if l.Next == 0 || l.Next < len(l.Steps) || l.Outer != nil {
		return r, nil
	}
	if last := l.Steps[l.Next-1]; last.Kind == trail.KindStep || last.Kind == trail.KindTrailhead {
		r.Text = last.Text
	}
	return r, nil
}
