package webdriver

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Status is what a server says of itself. Servers leave parts of it out.
type Status struct {
	Ready   bool   `json:"ready"`
	Message string `json:"message"`
	Device  string `json:"device"` // of WebDriverAgent: iphone or ipad
	OS      struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"os"`
	IOS struct {
		Simulator string `json:"simulatorVersion"` // of the system, of WebDriverAgent in a simulator; else empty
	} `json:"ios"`
	Build struct {
		Version string `json:"version"`
		Product string `json:"productBundleIdentifier"` // of WebDriverAgent
	} `json:"build"`
	SessionID string `json:"-"` // of the session that runs, if the server can have only one; else empty
}

// Status returns what the server says of itself.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var s Status
	r, err := c.call(ctx, http.MethodGet, "/status", "GET /status", nil)
	if err != nil {
		return s, err
	}
	s.SessionID = r.SessionID
	return s, r.decode(&s)
}

// Capabilities are what a session is requested with.
type Capabilities struct {
	AlwaysMatch map[string]any   `json:"alwaysMatch"`
	FirstMatch  []map[string]any `json:"firstMatch"`
}

// Session is a session of a server. Delete it.
type Session struct {
	client       *Client
	id           string
	capabilities map[string]any
}

// sessionPath is the path of the request for a session.
const sessionPath = "/session"

// NewSession starts a session. If the error may have executed, the server may have started one that nobody deletes.
func (c *Client) NewSession(ctx context.Context, capabilities Capabilities) (*Session, error) {
	if capabilities.AlwaysMatch == nil {
		capabilities.AlwaysMatch = map[string]any{}
	}
	if len(capabilities.FirstMatch) == 0 {
		capabilities.FirstMatch = []map[string]any{{}}
	}
	r, err := c.call(ctx, http.MethodPost, sessionPath, "POST "+sessionPath, map[string]any{"capabilities": capabilities})
	if err != nil {
		return nil, err
	}
	var value struct {
		SessionID    string         `json:"sessionId"`
		Capabilities map[string]any `json:"capabilities"`
	}
	if err := r.decode(&value); err != nil {
		return nil, err
	}
	if value.SessionID == "" {
		value.SessionID = r.SessionID // before W3C
	}
	if value.SessionID == "" {
		return nil, &Error{Call: "POST /session", Status: r.status, Message: "the response has no session id"}
	}
	return &Session{client: c, id: value.SessionID, capabilities: value.Capabilities}, nil
}

// ID returns the id of the session.
func (s *Session) ID() string { return s.id }

// Capabilities returns what the server says of the session; may be nil.
func (s *Session) Capabilities() map[string]any { return s.capabilities }

// Call is like [Client.Call], with a path below that of the session.
func (s *Session) Call(ctx context.Context, method, path string, body, result any) error {
	if path != "" {
		path = "/" + strings.TrimLeft(path, "/")
	}
	r, err := s.client.call(ctx, method, "/session/"+url.PathEscape(s.id)+path, method+" "+cmp.Or(path, "/session"), body)
	if err != nil {
		return err
	}
	return r.decode(result)
}

// Get reads a value.
func (s *Session) Get(ctx context.Context, path string, result any) error {
	return s.Call(ctx, http.MethodGet, path, nil, result)
}

// Post acts.
func (s *Session) Post(ctx context.Context, path string, body, result any) error {
	return s.Call(ctx, http.MethodPost, path, body, result)
}

// Delete ends the session. One that has ended is not an error.
func (s *Session) Delete(ctx context.Context) error {
	err := s.Call(ctx, http.MethodDelete, "", nil, nil)
	if HasCode(err, InvalidSessionID) {
		return nil
	}
	return err
}

// Reachable reports whether the server still accepts connections: it sends a request for the status over a new one. It
// is true if that is not known when ctx ends.
func (s *Session) Reachable(ctx context.Context) bool {
	traced, connected := traceConnection(ctx)
	request, err := s.client.request(traced, http.MethodGet, "/status", nil)
	if err != nil {
		return false
	}
	if res, err := s.client.actions.Do(request); err == nil {
		_ = res.Body.Close()
	}
	return connected.Load() || ctx.Err() != nil
}

// Source returns the screen as XML.
func (s *Session) Source(ctx context.Context) (string, error) {
	var text string
	err := s.Get(ctx, "/source", &text)
	return text, err
}

// pngSignature begins every PNG.
const pngSignature = "\x89PNG\r\n\x1a\n"

// Screenshot returns a PNG.
func (s *Session) Screenshot(ctx context.Context) ([]byte, error) {
	var text string
	if err := s.Get(ctx, "/screenshot", &text); err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(text) // ignores line breaks
	if err != nil || !strings.HasPrefix(string(data[:min(len(data), len(pngSignature))]), pngSignature) {
		return nil, &Error{Call: "GET /screenshot", Status: http.StatusOK, Message: "the response is not a PNG in base64", Cause: err}
	}
	return data, nil
}

// elementKey is the name under which the W3C sends the id of an element.
const elementKey = "element-6066-11e4-a52e-4f735466cecf"

// ActiveElement returns the path of the element that has the focus. The error has the code NoSuchElement if none has
// it.
func (s *Session) ActiveElement(ctx context.Context) (path string, err error) {
	var element map[string]string
	if err := s.Get(ctx, "/element/active", &element); err != nil {
		return "", err
	}
	if path = elementPath(element); path == "" {
		return "", &Error{
			Call: "GET /element/active", Status: http.StatusNotFound, Code: NoSuchElement, Message: "the response has no element",
		}
	}
	return path, nil
}

// Elements returns the paths of the elements that a request describes, such as {"using": "xpath", "value": "//*"}.
func (s *Session) Elements(ctx context.Context, request map[string]any) ([]string, error) {
	var elements []map[string]string
	if err := s.Post(ctx, "/elements", request, &elements); err != nil {
		return nil, err
	}
	paths := make([]string, len(elements))
	for i, element := range elements {
		if paths[i] = elementPath(element); paths[i] == "" {
			return nil, &Error{Call: "POST /elements", Status: http.StatusOK, Message: "an element in the response has no id"}
		}
	}
	return paths, nil
}

// elementPath returns the path of an element as servers send it, "" if it has no id.
func elementPath(element map[string]string) string {
	id := cmp.Or(element[elementKey], element["ELEMENT"]) // the second is from before W3C
	if id == "" {
		return ""
	}
	return "/element/" + url.PathEscape(id)
}

// Execute runs a script or an extension command, such as mobile: shell, with one argument.
func (s *Session) Execute(ctx context.Context, script string, argument, result any) error {
	arguments := []any{}
	if argument != nil {
		arguments = append(arguments, argument)
	}
	err := s.Post(ctx, "/execute/sync", map[string]any{"script": script, "args": arguments}, result)
	if e := As(err); e != nil {
		name, _, _ := strings.Cut(script, "{")
		e.Call = strings.TrimSpace(name)
	}
	return err
}

// Settings changes settings of an Appium driver, or of its server on the phone.
func (s *Session) Settings(ctx context.Context, settings map[string]any) error {
	return s.Post(ctx, "/appium/settings", map[string]any{"settings": settings}, nil)
}

// Size returns the size of the screen in the unit of the source.
func (s *Session) Size(ctx context.Context) (width, height int, err error) {
	var size struct{ Width, Height float64 }
	err = s.Get(ctx, "/window/rect", &size)
	if Unknown(err) || err == nil && size.Width == 0 {
		err = s.Get(ctx, "/window/current/size", &size)
	}
	return int(math.Round(size.Width)), int(math.Round(size.Height)), err
}

// Point is a place on the screen in the unit of the source.
type Point struct{ X, Y int }

// Finger is the path of one finger: down at the first point, there for Hold, then in straight lines to the others, Move
// in all, at the last one for Rest, and up. With Taps it does so several times, with a short pause between.
type Finger struct {
	Path             []Point
	Hold, Move, Rest time.Duration
	Taps             int // 0 for one
}

// tapPause is between two taps. Android takes two for a double tap if it is from 40 to 300 ms, iOS if it is shorter.
const tapPause = 80 * time.Millisecond

// Actions moves one finger, or several at the same time.
func (s *Session) Actions(ctx context.Context, fingers ...Finger) error {
	sources := make([]map[string]any, len(fingers))
	for i, f := range fingers {
		if len(f.Path) == 0 {
			return &Error{Call: "POST /actions", Message: "a finger has no point"}
		}
		sources[i] = map[string]any{
			"type": "pointer", "id": fmt.Sprintf("finger%d", i+1), "parameters": map[string]any{"pointerType": "touch"},
			"actions": f.steps(),
		}
	}
	return s.Post(ctx, "/actions", map[string]any{"actions": sources}, nil)
}

func (f Finger) steps() []map[string]any {
	steps := f.touch()
	for range f.Taps - 1 {
		steps = append(append(steps, pause(tapPause)), f.touch()...)
	}
	return steps
}

// touch returns the steps from down to up.
func (f Finger) touch() []map[string]any {
	steps := []map[string]any{moveTo(f.Path[0], 0), {"type": "pointerDown", "button": 0}}
	if f.Hold > 0 {
		steps = append(steps, pause(f.Hold))
	}
	var whole float64
	for i, p := range f.Path[1:] {
		whole += distance(f.Path[i], p)
	}
	var gone float64
	var spent time.Duration
	for i, p := range f.Path[1:] {
		gone += distance(f.Path[i], p)
		until := f.Move
		if whole > 0 {
			until = time.Duration(float64(f.Move) * gone / whole)
		}
		steps = append(steps, moveTo(p, until-spent))
		spent = until
	}
	if f.Rest > 0 {
		steps = append(steps, pause(f.Rest))
	}
	return append(steps, map[string]any{"type": "pointerUp", "button": 0})
}

func pause(duration time.Duration) map[string]any {
	return map[string]any{"type": "pause", "duration": duration.Milliseconds()}
}

func moveTo(p Point, duration time.Duration) map[string]any {
	return map[string]any{"type": "pointerMove", "duration": duration.Milliseconds(), "origin": "viewport", "x": p.X, "y": p.Y}
}

func distance(a, b Point) float64 { return math.Hypot(float64(b.X-a.X), float64(b.Y-a.Y)) }
