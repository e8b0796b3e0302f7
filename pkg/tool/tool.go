// Package tool holds types that other packages share: the definition of a tool by its source, a call, and its result.
// They are plain data.
package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// SourceKind is the kind of a source of tools.
type SourceKind string

// The kinds of source.
const (
	FromServer  SourceKind = "server"
	FromBuiltin SourceKind = "builtin"
	FromDevice  SourceKind = "device"
	// FromComposed is for tools whose calls are written in files of the project.
	FromComposed SourceKind = "composed"
)

// OfProject reports whether the project defines the tools, so that nothing else is known of what they do.
func (k SourceKind) OfProject() bool { return k == FromServer || k == FromComposed }

// Source names where a tool comes from, for messages and listings.
type Source struct {
	Kind SourceKind `json:"kind"`
	Name string     `json:"name"`
}

func (s Source) String() string { return string(s.Kind) + " " + s.Name }

// Advertised is a tool as its source advertises it, unchecked.
type Advertised struct {
	Name        string
	Description string
	InputSchema json.RawMessage // may be nil
	// OutputSchema is the schema of the structured content of its results; nil when it declares none.
	OutputSchema json.RawMessage
	Meta         map[string]any // _meta, may be nil
	// Check returns what is wrong with arguments that the input schema allows, as one or several joined *fault.Error.
	// It reads nothing but the arguments. May be nil.
	Check func(args map[string]any) error
}

// ReservedArg is the argument in which a tool receives the session's context. Only trailblaze sets it.
const ReservedArg = "_trailblazeContext"

// RememberValue is the built-in tool that sets the value of a name in memory.
const RememberValue = "rememberValue"

// ReloadTools is the built-in tool that lists the session's servers again.
const ReloadTools = "reloadTools"

// RememberText and RememberNumber are the commands of devices that put what an element shows into memory.
const (
	RememberText   = "rememberText"
	RememberNumber = "rememberNumber"
)

// Remembered returns the name that a call of a tool of trailblaze gives a value in memory; empty for none.
func Remembered(name string, args map[string]any) string {
	argument := ""
	switch name {
	case RememberValue:
		argument = "name"
	case RememberText, RememberNumber:
		argument = "variable"
	}
	text, _ := args[argument].(string)
	return text
}

// AssertWithModel is the built-in tool that lets a model judge a claim about the screen.
const AssertWithModel = "assertWithModel"

// RunTrail is the built-in tool that runs the steps of another trail. A replay walks through them in its place.
const RunTrail = "runTrail"

// Exec is the built-in tool that runs a program of this machine. Agents may call it only if the user allows it.
const Exec = "exec"

// Caller runs calls. Implementations document whether they may be called concurrently.
//
// A failure that the tool reports is a Result. An error means that the source failed, and is always a *fault.Error.
type Caller interface {
	Call(ctx context.Context, call Call) (Result, error)
}

// Call is one call of a tool, with the values of tokens filled in.
type Call struct {
	ID           string // of the call in events, such as 3.1; empty outside of sessions
	InvocationID string // capability of this call; never logged
	// Ancestors are the invocation ids of the calls that wait for this one to finish, outermost first: a tool made it
	// by callback. Empty for a call that no tool waits for.
	Ancestors []string
	// FromTrail says that the call, or one that waits for it, comes from a trail file, so that references in a live
	// session are positions, as in any replay.
	FromTrail bool
	// FromSandbox says that a script in the sandbox requested the call, or one that waits for it.
	FromSandbox bool
	// FromURL says that a server at a URL, which others may run, requested the call, or one that waits for it, or a
	// process that the session did not start.
	FromURL      bool
	WithoutTrail bool // made without a trail, so that hints about trails do not apply
	Tool         string
	Args         map[string]any // without the envelope
	Timeout      time.Duration  // the recorded call's own limit, 0 for none
	Context      Context
	Progress     func(message string) // receives progress messages; may be nil
	// Callbacks has a value when a callback of the tool began or ended, which restarts the limit as progress does; may be
	// nil.
	Callbacks <-chan struct{}
	// Judge makes a call of AssertWithModel. Nil where no model can be asked.
	Judge func(ctx context.Context, call Call) (Result, error)
}

// Nested reports whether another call waits for this one to finish.
func (c Call) Nested() bool { return len(c.Ancestors) > 0 }

// Context is the session's context that a source receives with every call. It contains no secrets.
type Context struct {
	SessionID string
	BaseURL   string // of the callback server; empty when there is none
	Device    Device
	Memory    map[string]any // never changed afterwards; a source may recognize the same map and encode it only once
	Target    *Target        // nil when the target has no id
}

// Device is the device of a session. Width and height are pixels, 0 when unknown.
type Device struct {
	ID       string // as its platform calls it (a serial, a UDID), else Name; empty when there is only one device
	Name     string // as the user calls it; empty when there is only one device
	Platform string // upper case
	Driver   string // yaml key
	Width    int
	Height   int
}

// Target is the app under test as sources receive it.
type Target struct {
	ID          string   `json:"id"`
	DisplayName string   `json:"displayName,omitempty"`
	AppIDs      []string `json:"appIds"`
	AppID       string   `json:"appId,omitempty"`
	BaseURL     string   `json:"baseUrl,omitempty"` // of the app on the web
}

// Result is the result of a call.
type Result struct {
	OK              bool
	Text            string          // the first text content; on failure the reason
	Kind            fault.Kind      // why it failed; empty when OK
	Fatal           bool            // the session must end with outcome error
	Structured      json.RawMessage // structuredContent, may be nil
	Attachments     []Attachment    // images, audio and resources, in the order of the result
	MemoryDelta     map[string]any
	MemoryDeletions []string // applied after the delta
	Hint            string
	Details         map[string]any // of a failure, for programs; may be nil
	// Notes say why a call that succeeded may not have done or checked what was meant, such as "first of 3". Each is
	// part of Text, too. Reports count them, so that they are seen in a trail that passes.
	Notes []string
	// Delegates are the calls of a composed tool, which are made in place of the call.
	Delegates []Delegate
	// Located says how a recording names the element that the call named by a reference of a live session. It is nil
	// for a call without such a reference.
	Located *Located
}

// Delegate is a call that is made in place of another one.
type Delegate struct {
	Tool string
	Args map[string]any
}

// Located is the element of a call as a recording names it.
type Located struct {
	Args     map[string]any // replace the argument ref, for example {"nodeSelector": {"web": {…}}}
	Warnings []string       // for people: why the recording may not find the element in a later replay
	// Again says that the element of the reference was gone, and that the call was for the only element with its role
	// and name. Else it is empty.
	Again string
}

// replaceRef returns args with what the recording has in place of the argument ref; args themselves if l is nil.
func (l *Located) replaceRef(args map[string]any) map[string]any {
	if l == nil {
		return args
	}
	args = maps.Clone(args)
	delete(args, "ref")
	maps.Copy(args, l.Args)
	return args
}

// InArgument returns how a recording names an element that args, the value of an argument, describe.
func (l *Located) InArgument(name string, args map[string]any) *Located {
	return &Located{Args: map[string]any{name: l.replaceRef(args)}, Warnings: l.Warnings, Again: l.Again}
}

// DragEnd is an element of a drag: the value of the argument from or to, and how a recording names the element, nil if
// Args name it without a reference of a live session.
type DragEnd struct {
	Args    map[string]any
	Located *Located
}

// LocatedDrag returns how a recording names the elements of a drag; nil if neither was named by a reference.
func LocatedDrag(from, to DragEnd) *Located {
	if from.Located == nil && to.Located == nil {
		return nil
	}
	l := &Located{Args: map[string]any{"from": from.Located.replaceRef(from.Args), "to": to.Located.replaceRef(to.Args)}}
	for _, end := range []*Located{from.Located, to.Located} {
		if end != nil {
			l.Warnings = append(l.Warnings, end.Warnings...)
			l.Again = cmp.Or(l.Again, end.Again)
		}
	}
	return l
}

// MissingFile is the key in Result.Details of a file that a call needs and that does not exist.
const MissingFile = "missingFile"

// MaxAttachment is the most bytes of one attachment that a source keeps.
const MaxAttachment = 8 << 20

// Attachment is a part of a result that is not text: an image, audio, or a resource, embedded or linked.
type Attachment struct {
	Type string // image, audio, resource or resource_link, as in MCP
	MIME string // media type as the tool gave it; may be empty
	Name string // of a linked resource; may be empty
	URI  string // of a resource; may be empty
	Data []byte // decoded; nil when there is none, see Note
	Note string // why there is no data, such as "12.0 MiB, over the limit of 8 MiB"; else empty
	// File is the absolute path at which the session keeps the data; empty if it does not.
	File string
	// MayHaveSecret says that the data contain a secret, or that the call was given one.
	MayHaveSecret bool
}
