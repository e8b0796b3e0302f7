package network

import (
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// MaxBody bounds a body in a result, in bytes.
const MaxBody = 64 << 10

// maxAnswer bounds the message of the browser that has a body, in bytes.
const maxAnswer = 2 * maxResource

// Exchange is a request and its response. It is not changed after a [Traffic] returned it.
type Exchange struct {
	id      string // the browser's; redirects have the same
	loader  string // of the document that sent it; its own id if it is for a document
	session *cdp.Session
	url     string
	method  string
	kind    string // of resource, as the browser calls it: Document, XHR, Fetch, Image …
	headers map[string]any
	body    string // empty for one that is too large for an event, or has files
	hasBody bool
	status  int
	answer  map[string]any // headers of the response
	failure string         // the browser's code

	started, finished float64 // seconds of the browser's clock

	// Counts of events; 0 for an event that did not come yet.
	requested, responded, ended     int
	requestReturned, answerReturned bool // by a command that waited for it
}

// URL returns the URL that was requested.
func (x *Exchange) URL() string { return x.url }

// IsDocument reports whether a page or a frame was requested.
func (x *Exchange) IsDocument() bool { return x.kind == "Document" }

// String returns method, URL and status, or the failure, in words.
func (x *Exchange) String() string {
	state := "no response yet"
	switch {
	case x.failure != "" && x.status < http.StatusBadRequest:
		state = x.failure
	case x.responded > 0:
		state = fmt.Sprint(x.status)
	}
	return fmt.Sprintf("%s %s (%s)", x.method, x.url, state)
}

// isData reports whether a request is one whose response scripts or frames show, not an image or a style.
func (x *Exchange) isData() bool { return x.kind == "XHR" || x.kind == "Fetch" || x.IsDocument() }

// isStream reports whether the response has no end.
func (x *Exchange) isStream() bool {
	return strings.HasPrefix(shownHeaders(x.answer)["content-type"], "text/event-stream")
}

// isOver reports whether nothing more is to come of an exchange but what a stream sends.
func (x *Exchange) isOver() bool { return x.ended > 0 || x.responded > 0 && x.isStream() }

// Message is a request or a response, as commands return it.
type Message struct {
	URL    string `json:"url"`
	Method string `json:"method"`
	Status int    `json:"status,omitempty"` // 0 for a request
	Content
}

// Content is the content of a request or a response.
type Content struct {
	Headers    map[string]string `json:"headers"` // names in lower case; those that sign in have the value [secret]
	Body       string            `json:"body"`
	BodyBase64 string            `json:"bodyBase64,omitempty"` // instead of Body if that is not text
	BodyBytes  int               `json:"bodyBytes,omitempty"`  // the size of a body of which only [MaxBody] bytes are here
	NoBody     string            `json:"noBody,omitempty"`     // why the body is missing
}

// Details are a request and its response, as a command returns them.
type Details struct {
	URL        string   `json:"url"`
	Method     string   `json:"method"`
	Status     int      `json:"status,omitempty"`  // 0 if no response came
	Failure    string   `json:"failure,omitempty"` // the browser's code
	DurationMS int      `json:"durationMs"`
	Request    Content  `json:"request"`
	Response   *Content `json:"response,omitempty"` // nil if none came
}

// request returns what was sent.
func (x *Exchange) request(redact func(string) string) Content {
	body, more := boundedBody(x.body, redact)
	return Content{Headers: shownHeaders(x.headers), Body: body, BodyBytes: more}
}

// response returns what came. It asks the browser for the body.
func (x *Exchange) response(ctx context.Context, redact func(string) string) Content {
	c := Content{Headers: shownHeaders(x.answer)}
	x.readBody(ctx, &c, redact)
	return c
}

// details returns what was sent and what came. It asks the browser for the bodies.
func (x *Exchange) details(ctx context.Context, redact func(string) string) Details {
	d := Details{
		URL: x.url, Method: x.method, Status: x.status, Failure: x.failure, Request: x.request(redact),
		DurationMS: int(math.Round(1000 * (x.finished - x.started))),
	}
	if x.hasBody && x.body == "" {
		x.readSentBody(ctx, &d.Request, redact)
	}
	if x.responded > 0 {
		d.Response = new(x.response(ctx, redact))
	}
	return d
}

// readSentBody asks the browser for a body that was not in the event of the request.
func (x *Exchange) readSentBody(ctx context.Context, to *Content, redact func(string) string) {
	var sent struct{ PostData string }
	err := x.session.CallLimited(ctx, maxAnswer, "Network.getRequestPostData", map[string]any{"requestId": x.id}, &sent)
	if err != nil {
		to.NoBody = "the browser does not have it: " + err.Error()
		return
	}
	to.Body, to.BodyBytes = boundedBody(sent.PostData, redact)
}

// readBody asks the browser for the body of the response, which it keeps until the page is left.
func (x *Exchange) readBody(ctx context.Context, to *Content, redact func(string) string) {
	if x.failure != "" {
		to.NoBody = "the response was not complete: " + x.failure
		return
	}
	if x.isStream() || x.status == http.StatusNoContent || x.status >= 300 && x.status < 400 {
		return
	}
	var answer struct {
		Body          string
		Base64Encoded bool
	}
	err := x.session.CallLimited(ctx, maxAnswer, "Network.getResponseBody", map[string]any{"requestId": x.id}, &answer)
	if err != nil {
		to.NoBody = "the browser does not have it any more: " + err.Error()
		return
	}
	body := []byte(answer.Body)
	if answer.Base64Encoded {
		if body, err = base64.StdEncoding.DecodeString(answer.Body); err != nil {
			to.NoBody = err.Error()
			return
		}
	}
	to.Body, to.BodyBytes = boundedBody(string(body), redact)
	if !utf8.ValidString(to.Body) {
		to.Body, to.BodyBase64 = "", base64.StdEncoding.EncodeToString([]byte(to.Body))
	}
}

// boundedBody returns a body, or if it is longer than MaxBody its beginning without secrets, and its size.
func boundedBody(body string, redact func(string) string) (head string, size int) {
	if len(body) <= MaxBody {
		return body, 0
	}
	return text.RedactedHead(body, MaxBody, redact), len(body)
}

// shownHeaders returns headers with names in lower case, without the values of those that sign in.
func shownHeaders(headers map[string]any) map[string]string {
	shown := map[string]string{}
	for name, value := range headers {
		name = strings.ToLower(name)
		shown[name] = fmt.Sprint(value)
		switch name {
		case "authorization", "cookie", "proxy-authorization", "set-cookie", "x-api-key", "x-auth-token", "x-csrf-token":
			shown[name] = "[secret]"
		}
	}
	return shown
}
