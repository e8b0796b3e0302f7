package webdriver

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Codes of errors that the protocol names.
const (
	InvalidSessionID     = "invalid session id"
	SessionNotCreated    = "session not created"
	UnknownCommand       = "unknown command"
	UnknownMethod        = "unknown method"
	UnsupportedOperation = "unsupported operation"
	NoSuchElement        = "no such element"
	StaleElement         = "stale element reference"
	NoSuchAlert          = "no such alert"
	timeout              = "timeout"
)

// Error is a call that failed. It contains no credentials.
type Error struct {
	Call    string // method and path, without the session
	Status  int    // of HTTP; 0 if no response was received
	Code    string // of WebDriver; empty if the server did not say one
	Message string // of the server, or what happened to the request
	Cause   error

	noResponse bool
}

func (e *Error) Error() string {
	switch {
	case e.Status == 0 || e.Status < http.StatusBadRequest && e.Code == "":
		return e.Call + ": " + e.Message
	case e.Code == "":
		return fmt.Sprintf("%s: HTTP %d: %s", e.Call, e.Status, e.Message)
	case e.Message == "":
		return e.Call + ": " + e.Code
	default:
		return e.Call + ": " + e.Code + ": " + e.Message
	}
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// MaybeExecuted reports whether the server may have done what was requested: the request was sent, and no response
// says how it ended.
func (e *Error) MaybeExecuted() bool { return e.noResponse }

// As returns the *Error in err's tree, or nil.
func As(err error) *Error {
	e, _ := errors.AsType[*Error](err)
	return e
}

// HasCode reports whether err is an *Error with one of the codes.
func HasCode(err error, codes ...string) bool {
	e := As(err)
	if e == nil {
		return false
	}
	for _, code := range codes {
		if strings.EqualFold(e.Code, code) {
			return true
		}
	}
	return false
}

// Unknown reports whether the server does not have the command that was called.
func Unknown(err error) bool {
	e := As(err)
	return HasCode(err, UnknownCommand, UnknownMethod, UnsupportedOperation) ||
		e != nil && e.Code == "" && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed)
}

// WithoutUser returns a URL without user and key, for messages. What is not a URL is cut before the last @.
func WithoutUser(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err == nil && u.Host != "" {
		u.User = nil
		return u.String()
	}
	if at := strings.LastIndexByte(rawURL, '@'); at >= 0 {
		return "…" + rawURL[at:]
	}
	return rawURL
}

// transportError returns the error of a request without a complete response. sent says that there was a connection.
func (c *Client) transportError(ctx context.Context, call string, err error, sent bool) *Error {
	if requestErr, ok := errors.AsType[*url.Error](err); ok {
		err = requestErr.Err // without the URL
	}
	e := &Error{Call: call, Cause: err, noResponse: sent}
	what := "no response from "
	if !sent {
		what = "no connection to "
	}
	cause := context.Cause(ctx)
	limit, isLimit := errors.AsType[limitError](cause)
	switch {
	case isLimit:
		e.Message = what + c.URL() + " within " + time.Duration(limit).String()
	case errors.Is(cause, context.DeadlineExceeded):
		e.Message = what + c.URL() + " within the limit of the call"
	case cause != nil:
		e.Message = what + c.URL() + ": " + cause.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Message = c.URL() + " closed the connection without a complete response"
	default:
		e.Message = fmt.Sprintf("%s: %v", c.URL(), err)
	}
	if cause != nil {
		e.Cause = cause
	}
	e.Message = c.Redact(e.Message)
	return e
}

// parse returns the response that was received, or its error.
func (c *Client) parse(call string, res *http.Response, data []byte) (*response, error) {
	r := &response{client: c, call: call, status: res.StatusCode}
	var legacy struct {
		Status int `json:"status"` // before W3C, one other than 0 was an error
	}
	isJSON := json.Unmarshal(data, r) == nil
	e := &Error{Call: call, Status: res.StatusCode}
	switch {
	case isJSON && res.StatusCode < http.StatusMultipleChoices:
		_ = json.Unmarshal(data, &legacy) // a status of another type says nothing
		if legacy.Status == 0 {
			return r, nil
		}
		e.Code = cmp.Or(r.readError(e, c), "unknown error")
	case res.StatusCode >= http.StatusMultipleChoices && res.StatusCode < http.StatusBadRequest:
		location := WithoutUser(res.Header.Get("Location"))
		e.Message = c.Redact(fmt.Sprintf("HTTP %d: the server redirects to %s; use that URL", res.StatusCode, location))
	case isJSON && len(r.Value) > 0:
		e.Code = r.readError(e, c)
	case res.StatusCode < http.StatusMultipleChoices:
		e.noResponse = true
		e.Message = c.Redact(fmt.Sprintf("HTTP %d, but not a WebDriver response: %s", res.StatusCode, firstLine(data)))
	default:
		e.Message = c.Redact(firstLine(data))
	}
	// A gateway that says nothing of WebDriver may have passed the request on. A timeout says that it did not end.
	if e.Code == "" && res.StatusCode >= http.StatusInternalServerError || e.Code == timeout {
		e.noResponse = true
	}
	if e.Message == "" && e.Code == "" {
		e.Message = http.StatusText(res.StatusCode)
	}
	return nil, e
}

// readError sets the message of e from the value of a response, and returns the code.
func (r *response) readError(e *Error, c *Client) string {
	var value struct {
		Error   string `json:"error"`
		Message string `json:"message"`
	}
	if json.Unmarshal(r.Value, &value) != nil {
		var text string
		if json.Unmarshal(r.Value, &text) != nil {
			text = string(r.Value)
		}
		value.Message = text
	}
	e.Message = c.Redact(shorten(strings.TrimSpace(value.Message)))
	return c.Redact(shorten(value.Error))
}

// maxMessage is the length in bytes of the longest message of a server in an error.
const maxMessage = 2000

func shorten(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	text = text[:maxMessage]
	for !utf8.ValidString(text) && text != "" {
		text = text[:len(text)-1]
	}
	return text + " …"
}

// firstLine returns what a response that is not of WebDriver says: the title of a page, or else the first line of text.
func firstLine(data []byte) string {
	text := strings.ToValidUTF8(string(data[:min(len(data), 64<<10)]), "�")
	if title := regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`).FindStringSubmatch(text); title != nil {
		if line := strings.Join(strings.Fields(html.UnescapeString(title[1])), " "); line != "" {
			return shortLine(line)
		}
	}
	text = regexp.MustCompile(`(?is)<(script|style)\b.*?</(script|style)>|<[^>]*>`).ReplaceAllString(text, "")
	for line := range strings.Lines(html.UnescapeString(text)) {
		if line = strings.TrimSpace(line); line != "" {
			return shortLine(line)
		}
	}
	return "an empty response"
}

func shortLine(line string) string {
	const most = 200
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + " …"
	}
	return line
}

// minSecret is the length in bytes from which a secret is replaced in messages: a shorter one is part of other words.
const minSecret = 4

// newRedactor returns a replacer of secrets, as they are and as URLs, JSON and basic authentication have them.
func newRedactor(secrets []string, user, key string) *strings.Replacer {
	if user != "" || key != "" {
		secrets = append(secrets, base64.StdEncoding.EncodeToString([]byte(user+":"+key)))
	}
	var pairs []string
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // one may begin with another
	for _, secret := range secrets {
		if len(secret) < minSecret {
			continue
		}
		quoted, _ := json.Marshal(secret) //nolint:errchkjson // a string
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), strings.Trim(string(quoted), `"`)} {
			pairs = append(pairs, form, "***")
		}
	}
	return strings.NewReplacer(pairs...)
}
