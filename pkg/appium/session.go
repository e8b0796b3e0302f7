package appium

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/webdriver"
)

// Session is a WebDriver session of a phone. The errors of its methods are those of mobile.Driver.
type Session struct {
	*webdriver.Session
	Server string // what messages call it, such as WebDriverAgent at http://127.0.0.1:8100
	Hint   string // what to do when the session has ended; may be empty
	// Explain returns the error of a session that has ended with what is known of the server's process. May be nil.
	Explain func(*fault.Error) *fault.Error

	idleSince time.Time
	statusBar int // its height; 0 until it is known
}

// Caller makes one request.
type Caller func(ctx context.Context) error

// Read makes a call that changes nothing. what says in messages what it is for.
func (s *Session) Read(ctx context.Context, what string, call Caller) error {
	return s.call(ctx, what, call, false)
}

// Act makes a call that acts. The error is an *act.UnconfirmedError when it may have happened.
func (s *Session) Act(ctx context.Context, what string, call Caller) error {
	return s.call(ctx, what, call, true)
}

func (s *Session) call(ctx context.Context, what string, call Caller, acts bool) error {
	idleSince := s.idleSince
	err := call(ctx)
	s.idleSince = time.Now()
	e := webdriver.As(err)
	cause := context.Cause(ctx)
	switch {
	case err == nil:
		return nil
	case e == nil:
		return err
	case acts && (e.MaybeExecuted() || responseLost(e)):
		return &act.UnconfirmedError{Cause: s.lostError(ctx, what, e)}
	case cause != nil:
		return cause
	case hasEnded(e):
		return s.explain(s.endedError(e, idleSince))
	case e.Status == 0 && !e.MaybeExecuted():
		return s.unreachable(e)
	case e.MaybeExecuted():
		return s.lostError(ctx, what, e)
	}
	return fault.Wrap(fault.ToolFailed, err, "", what)
}

// probeLimit is how long a server may take to accept a connection after one was closed.
const probeLimit = 2 * time.Second

// lostError returns the error of a request without a response. It is of kind Crashed if the server does not run any
// more.
func (s *Session) lostError(ctx context.Context, what string, e *webdriver.Error) error {
	if e.Status == 0 && !errors.Is(e, context.DeadlineExceeded) && ctx.Err() == nil {
		asking, cancel := context.WithTimeout(ctx, probeLimit)
		defer cancel()
		if !s.Reachable(asking) {
			return s.unreachable(e)
		}
	}
	return fault.Wrap(fault.CallTimeout, e, "", what)
}

// unreachable returns the error of a server that does not run any more.
func (s *Session) unreachable(e *webdriver.Error) *fault.Error {
	return s.explain(&fault.Error{
		Kind: fault.Crashed, Cause: e, Hint: s.Hint, Message: fmt.Sprintf("%s cannot be reached any more: %s", s.Server, e.Message),
	})
}

func (s *Session) explain(e *fault.Error) *fault.Error {
	if s.Explain == nil {
		return e
	}
	return s.Explain(e)
}

var (
	lostResponse = lazyregexp.New(`(?is)could not proxy.*(socket hang up|ECONNRESET|EPIPE|timeout of|ETIMEDOUT|aborted)`)
	endedSession = lazyregexp.New(`(?is)session is either terminated or not started|instrumentation process is not running|` +
		`could not proxy.*(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH)|` +
		`session .*(does not exist|not found|has (been )?(ended|finished|stopped|terminated|timed out|already))`)
)

// responseLost reports whether Appium says that the phone received a request and it got no response.
func responseLost(e *webdriver.Error) bool { return lostResponse().MatchString(e.Message) }

// hasEnded reports whether a server says that the session has ended.
func hasEnded(e *webdriver.Error) bool {
	return webdriver.HasCode(e, webdriver.InvalidSessionID) || e.Status != 0 && endedSession().MatchString(e.Message)
}

// Answered reports whether err is of a call that the server has answered with an error, so that nothing is pending and
// the session goes on.
func Answered(err error) bool {
	e := webdriver.As(err)
	return e != nil && e.Status != 0 && !e.MaybeExecuted() && fault.KindOf(err) == fault.ToolFailed
}

// minIdle is the time without a call from which it may be why a session has ended.
const minIdle = 45 * time.Second

// endedError returns the error of a session that the server has ended.
func (s *Session) endedError(e *webdriver.Error, idleSince time.Time) *fault.Error {
	message, hint := fmt.Sprintf("the session of %s has ended: %s", s.Server, e.Message), s.Hint
	if idle := time.Since(idleSince).Round(time.Second); !idleSince.IsZero() && idle >= minIdle {
		message = fmt.Sprintf("the session of %s has ended after %s without a call: %s", s.Server, idle, e.Message)
		hint = "raise the idle limit: appium:newCommandTimeout, or the option of the cloud for it"
	}
	return &fault.Error{Kind: fault.Crashed, Cause: e, Hint: hint, Message: message}
}

// TakeScreenshot returns a PNG.
func (s *Session) TakeScreenshot(ctx context.Context) (png []byte, err error) {
	err = s.Read(ctx, "take a screenshot", func(ctx context.Context) error {
		png, err = s.Screenshot(ctx)
		return err
	})
	return png, err
}

// ReadSize returns the size of the screen in the unit of the source.
func (s *Session) ReadSize(ctx context.Context) (width, height int, err error) {
	err = s.Read(ctx, "read the size of the screen", func(ctx context.Context) error {
		width, height, err = s.Size(ctx)
		return err
	})
	return width, height, err
}

// ChangeSettings changes settings of the server.
func (s *Session) ChangeSettings(ctx context.Context, settings map[string]any) error {
	return s.Act(ctx, "change settings", func(ctx context.Context) error { return s.Settings(ctx, settings) })
}

// Touch moves fingers.
func (s *Session) Touch(ctx context.Context, fingers ...mobile.Finger) error {
	return s.Act(ctx, "touch the screen", func(ctx context.Context) error { return s.Actions(ctx, Fingers(fingers)...) })
}

// ErrNoFocus is the cause of the error for text without a field that has the focus.
var ErrNoFocus = errors.New("no field has the focus")

// Focused returns the path of the field that has the focus.
func (s *Session) Focused(ctx context.Context) (path string, err error) {
	err = s.Read(ctx, "find the field that has the focus", func(ctx context.Context) error {
		path, err = s.ActiveElement(ctx)
		return err
	})
	if webdriver.HasCode(err, webdriver.NoSuchElement) {
		return "", NoFocus()
	}
	return path, err
}

// FocusedArea returns the bounds of the field that has the focus; nil without one.
func (s *Session) FocusedArea(ctx context.Context) (*screen.Rect, error) {
	field, err := s.Focused(ctx)
	if errors.Is(err, ErrNoFocus) {
		return nil, nil
	}
	var at struct{ X, Y, Width, Height float64 }
	if err == nil {
		err = s.Read(ctx, "read where the field is that has the focus", func(ctx context.Context) error {
			return s.Get(ctx, field+"/rect", &at)
		})
	}
	switch {
	case Answered(err):
		return nil, nil // it has gone meanwhile
	case err != nil:
		return nil, err
	}
	return &screen.Rect{
		Left: int(math.Round(at.X)), Top: int(math.Round(at.Y)),
		Right: int(math.Round(at.X + at.Width)), Bottom: int(math.Round(at.Y + at.Height)),
	}, nil
}

// AlertText returns the text of the alert that is shown, empty without one.
func (s *Session) AlertText(ctx context.Context) (text string, err error) {
	err = s.Read(ctx, "read the text of an alert", func(ctx context.Context) error { return s.Get(ctx, "/alert/text", &text) })
	if Answered(err) {
		return "", nil // none is shown
	}
	return text, err
}

// StatusBarHeight returns the height of the status bar of iOS in what get reads, which is of the type of WebDriverAgent
// for a screen; 0 if it is not known. It stays the same: an iPhone that is turned has none meanwhile.
func (s *Session) StatusBarHeight(ctx context.Context, get func(ctx context.Context, info any) error) int {
	if s.statusBar > 0 {
		return s.statusBar
	}
	var info struct {
		StatusBarSize struct{ Width, Height float64 } // of the screen as it is made, or as it is turned
	}
	err := s.Read(ctx, "read the height of the status bar", func(ctx context.Context) error { return get(ctx, &info) })
	if err == nil {
		s.statusBar = int(math.Ceil(min(info.StatusBarSize.Width, info.StatusBarSize.Height)))
	}
	return s.statusBar
}

// ReadClipboard returns the text of the clipboard, for which a server has a path.
func (s *Session) ReadClipboard(ctx context.Context, path string) (string, error) {
	var encoded string
	err := s.Read(ctx, "read the clipboard", func(ctx context.Context) error {
		return s.Post(ctx, path, map[string]any{"contentType": "plaintext"}, &encoded)
	})
	if err != nil {
		return "", err
	}
	return s.decodeClipboard(encoded)
}

// decodeClipboard returns the text of the clipboard, which servers send in base64.
func (s *Session) decodeClipboard(encoded string) (string, error) {
	text, err := base64.StdEncoding.DecodeString(encoded) // which ignores line breaks
	if err != nil {
		return "", fault.New(fault.ProtocolError, "", "%s: the clipboard is not in base64", s.Server)
	}
	return string(text), nil
}

// clipboardContent returns the arguments with which servers set the clipboard.
func clipboardContent(text string) map[string]any {
	return map[string]any{"contentType": "plaintext", "content": base64.StdEncoding.EncodeToString([]byte(text))}
}

// WriteClipboard replaces the text of the clipboard, for which a server has a path.
func (s *Session) WriteClipboard(ctx context.Context, path, text string) error {
	return s.Act(ctx, "set the clipboard", func(ctx context.Context) error {
		return s.Post(ctx, path, clipboardContent(text), nil)
	})
}

// TypeText types text into the field that has the focus.
func (s *Session) TypeText(ctx context.Context, text string) error {
	field, err := s.Focused(ctx)
	if err != nil {
		return err
	}
	return s.typeInto(ctx, field, text)
}

func (s *Session) typeInto(ctx context.Context, field, text string) error {
	return s.Act(ctx, "type text", func(ctx context.Context) error {
		return s.Post(ctx, field+"/value", map[string]any{"text": text, "value": strings.Split(text, "")}, nil)
	})
}

// ReplaceText replaces the text of the field that has the focus.
func (s *Session) ReplaceText(ctx context.Context, text string) error {
	field, err := s.Focused(ctx)
	if err != nil {
		return err
	}
	err = s.Act(ctx, "clear the field", func(ctx context.Context) error { return s.Post(ctx, field+"/clear", nil, nil) })
	if err != nil || text == "" {
		return err
	}
	return s.typeInto(ctx, field, text)
}
