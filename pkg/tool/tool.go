// Package tool holds the types that travel between the rooms: what a source says of a tool, a call, and its result.
// They are plain data; the package starts nothing and knows nothing of servers, files or devices.
package tool

import (
	"context"
	"encoding/json"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// SourceKind says what kind of thing provides a tool.
type SourceKind string

// The kinds of source (specification, section 10.1).
const (
	FromServer  SourceKind = "server"
	FromBuiltin SourceKind = "builtin"
	FromDevice  SourceKind = "device"
)

// Source names where a tool comes from. Nothing but messages and listings may depend on it.
type Source struct {
	Kind SourceKind `json:"kind"`
	Name string     `json:"name"`
}

func (s Source) String() string { return string(s.Kind) + " " + s.Name }

// Advertised is a tool as its source describes it, before anybody has judged it.
type Advertised struct {
	Name        string
	Description string
	InputSchema json.RawMessage // may be nil
	Meta        map[string]any  // _meta, may be nil
}

// ReservedArg is the argument under which a tool finds the session's context; only trailblaze writes it (specification, section 7).
const ReservedArg = "_trailblazeContext"

// Caller runs a call. Implementations say whether they may be called concurrently.
//
// A tool that answers with a failure is a Result; an error means that the source itself broke and is always a *fault.Error.
type Caller interface {
	Call(ctx context.Context, call Call) (Result, error)
}

// Call is one invocation with its values filled in.
type Call struct {
	InvocationID string // capability of this call; never logged
	// Ancestors are the invocation ids of the calls that wait for this one to finish, outermost first: a tool made it by
	// callback. Empty for a call that no tool waits for.
	Ancestors    []string
	WithoutTrail bool // made without a trail, so that advice about trails is none
	Tool         string
	Args         map[string]any // without the envelope
	Timeout      time.Duration  // the recorded call's own limit, 0 for none
	Context      Context
	Progress     func(message string) // told of progress notifications; may be nil
}

// Nested reports whether another call waits for this one to finish.
func (c Call) Nested() bool { return len(c.Ancestors) > 0 }

// Context is what a source is told of the session with every call. It holds no secrets.
type Context struct {
	SessionID string
	BaseURL   string // where the callback server is; empty when there is none
	Device    Device
	Memory    map[string]any
	Target    *Target // nil when the target has no id
}

// Device is the device of a session. Width and height are pixels, 0 when unknown.
type Device struct {
	Name     string // as the user calls it; empty when there is only one
	ID       string // a serial, a UDID; empty when nobody said
	Platform string // upper case
	Driver   string // yaml key
	Width    int
	Height   int
}

// Target is the app under test as the envelope shows it.
type Target struct {
	ID          string   `json:"id"`
	DisplayName string   `json:"displayName,omitempty"`
	AppIDs      []string `json:"appIds"`
	AppID       string   `json:"appId,omitempty"`
}

// Result is how a call ended.
type Result struct {
	OK              bool
	Text            string          // first text content, on failure the reason
	Kind            fault.Kind      // why it failed; empty when OK
	Fatal           bool            // the session must end with outcome error
	Structured      json.RawMessage // structuredContent, may be nil
	Attachments     []Attachment    // images, audio and resources, in the order of the result
	MemoryDelta     map[string]any
	MemoryDeletions []string // applied after the delta
	Hint            string
}

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
}
