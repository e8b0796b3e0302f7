// Package fault has the errors that are shown to users: a kind, which decides the exit code, a message, a hint, and for
// files the position. It prints nothing and imports no other package of this program.
package fault

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
)

// Kind classifies a fault. It decides the exit code and appears as "kind" in JSON output.
type Kind string

// The kinds that end a command. Failed calls have kinds of their own, see CallTimeout and those after it.
const (
	Misuse         Kind = "misuse"          // flags or arguments
	Config         Kind = "config"          // a project, target or toolset file
	Trail          Kind = "trail"           // a trail file, or arguments recorded in it
	Scope          Kind = "scope"           // target, driver or agent mode is not known
	NothingMatched Kind = "nothing matched" // no trail for the given paths or tags
	Registration   Kind = "registration"    // tool names collide
	Runtime        Kind = "runtime"         // no JavaScript runtime for a script
	Server         Kind = "server"          // a server of tools, of the app or of a session could not start, or failed
	Device         Kind = "device"          // a device, or what drives it, is missing, busy or does not respond
	IO             Kind = "io"              // a file, a folder, a port or a pipe
	Timeout        Kind = "run timeout"     // --timeout reached
	Interrupted    Kind = "interrupted"     // SIGINT or SIGHUP
	Terminated     Kind = "terminated"      // SIGTERM
	Unavailable    Kind = "not available"   // this version cannot do what was requested
	Bug            Kind = "bug"             // a bug in trailblaze, to be reported
)

// The kinds of a failed call or a failed server (specification, section 7).
const (
	CallTimeout      Kind = "timeout"
	CommandNotFound  Kind = "command not found"
	PermissionDenied Kind = "permission denied"
	ProtocolError    Kind = "protocol error"
	Crashed          Kind = "crashed"
	ToolFailed       Kind = "tool failed"       // the result has isError
	ToolFatal        Kind = "fatal"             // the result has the variant FatalError
	UnknownTool      Kind = "unknown tool"      // no source provides it
	InvalidArguments Kind = "invalid arguments" // they do not fit the tool's input schema
	UnknownValue     Kind = "unknown value"     // a {{token}} that nothing defines
	TooLarge         Kind = "message too large" // a line is longer than the limit
	Cancelled        Kind = "cancelled"         // the run ended while the call was pending
)

// The kinds of a request to a model that failed (specification, section 22.13).
const (
	Provider   Kind = "provider"   // it cannot be reached, rejects the request or the key, or answers what cannot be read
	RateLimit  Kind = "rate limit" // still limited after all attempts, or for longer than is waited
	Quota      Kind = "quota"      // what the account may spend is used up
	Transcript Kind = "transcript" // a recorded answer is missing, or is about another screen
)

// The kinds of a claim that a model has judged and that does not pass (specification, section 22.9).
const (
	JudgedFalse Kind = "judged false" // the claim does not hold, and its negation does
	Undecided   Kind = "undecided"    // the model cannot tell, or answers the claim and its negation alike
)

// The kinds of why a recording that broke is not repaired (specification, section 22.8).
const (
	HealRefused   Kind = "heal refused"   // a rule forbids the repair
	NotReproduced Kind = "not reproduced" // the trail does not fail again in the same way
	AppUnhealthy  Kind = "app unhealthy"  // the app is what broke
)

// IsRequestFailure reports whether it is the kind of a request to a model that failed.
func (k Kind) IsRequestFailure() bool {
	return slices.Contains([]Kind{Provider, RateLimit, Quota, Transcript}, k)
}

// IsJudgment reports whether it is the kind of a claim that a model has judged.
func (k Kind) IsJudgment() bool { return k == JudgedFalse || k == Undecided }

// Error is an error with a hint. Error() is Message alone; packages that print errors print Hint and Details.
type Error struct {
	Kind    Kind
	Message string
	Hint    string         // what to do about it; may be empty
	Details map[string]any // machine-readable facts; may be nil
	Cause   error          // what Unwrap returns; not printed
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// New returns an Error of a kind.
func New(kind Kind, hint, format string, args ...any) *Error {
	return &Error{Kind: kind, Hint: hint, Message: fmt.Sprintf(format, args...)}
}

// Wrap returns an Error of a kind that wraps cause; the message is "what: cause".
func Wrap(kind Kind, cause error, hint, what string) *Error {
	return &Error{Kind: kind, Hint: hint, Message: what + ": " + cause.Error(), Cause: cause}
}

// Panicked returns an Error of kind Bug for a value that recover returned. Call it in the deferred function, so that
// the stack shows the panic.
func Panicked(p any) *Error {
	return &Error{
		Kind: Bug, Message: fmt.Sprintf("internal error: %v", p),
		Hint:    "this is a bug in trailblaze; please report it with the output of the same command under --verbose",
		Details: map[string]any{"stack": string(debug.Stack())},
	}
}

// As returns the outermost *Error in err's tree, or nil.
func As(err error) *Error {
	e, _ := errors.AsType[*Error](err)
	return e
}

// KindOf returns the kind of err, Bug for an error that carries none.
func KindOf(err error) Kind {
	if e := As(err); e != nil {
		return e.Kind
	}
	if p, ok := errors.AsType[Problems](err); ok {
		return p.kind()
	}
	return Bug
}

// Split returns the errors that were joined into err, or err alone; none for nil.
func Split(err error) []error {
	if err == nil {
		return nil
	}
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var parts []error
	for _, e := range list.Unwrap() {
		parts = append(parts, Split(e)...)
	}
	return parts
}

// Hints returns the hints of err and of each error joined into it, each once. Of Problems it returns the hint only when
// there is one problem, since hints of several are printed with their positions. A bug has the hint to report it.
func Hints(err error) []string {
	var hints []string
	for _, part := range Split(err) {
		if h := hint(part); h != "" && !slices.Contains(hints, h) {
			hints = append(hints, h)
		}
	}
	return hints
}

func hint(err error) string {
	var ps Problems
	e := As(err)
	switch {
	case e != nil && (e.Hint != "" || e.Kind != Bug):
		return e.Hint
	case e == nil && errors.As(err, &ps):
		if len(ps) == 1 {
			return ps[0].Hint
		}
		return ""
	}
	return "this looks like a bug in trailblaze; please report it"
}

// Exit codes (specification, section 10).
const (
	ExitPassed      = 0
	ExitFailed      = 1
	ExitInfra       = 2
	ExitMisuse      = 3
	ExitNothing     = 4
	ExitTimeout     = 124
	ExitInterrupted = 130
	ExitTerminated  = 143
)

// ExitCode returns the exit code of the process for err, the worst one for several joined errors.
func ExitCode(err error) int {
	code := ExitPassed
	for _, e := range Split(err) {
		code = Worst(code, exitCode(e))
	}
	return code
}

func exitCode(err error) int {
	switch KindOf(err) {
	case Misuse, Config, Trail, Scope, Unavailable:
		return ExitMisuse
	case NothingMatched:
		return ExitNothing
	case Timeout:
		return ExitTimeout
	case Interrupted:
		return ExitInterrupted
	case Terminated:
		return ExitTerminated
	default:
		return ExitInfra
	}
}

// Worst returns the exit code that takes precedence: that of a timeout or signal, then 2 > 3 > 1 > 4 > 0.
func Worst(a, b int) int {
	order := []int{ExitPassed, ExitNothing, ExitFailed, ExitMisuse, ExitInfra, ExitTimeout, ExitInterrupted, ExitTerminated}
	if slices.Index(order, a) >= slices.Index(order, b) {
		return a
	}
	return b
}

// Problem is one error in a file. Line and Column count from 1; 0 means the file as a whole.
type Problem struct {
	Kind    Kind   `json:"-"` // Config or Trail
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
	Snippet string `json:"-"` // the source line with a caret under the column, ready to print
}

// Error returns "file:line:column: message".
func (p Problem) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// Problems are all errors of one or more files, reported together.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Err returns ps as an error, nil when there are none.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// Sort orders the problems by file, line and column.
func (ps Problems) Sort() {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
}

func (ps Problems) kind() Kind {
	if len(ps) > 0 && ps[0].Kind != "" {
		return ps[0].Kind
	}
	return Config
}
