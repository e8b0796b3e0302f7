package network

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/cdp"
)

// Paused is a request that the browser holds back until one of its methods, or [Traffic.Answer], was called once.
type Paused struct {
	session                          *cdp.Session
	RequestID, FrameID, ResourceType string
	NetworkID                        string // the id of the exchange
	Request                          struct {
		URL, Method string
		Headers     map[string]any
	}
}

// ReadPaused reads the event Fetch.requestPaused of a session. It is false for one that cannot be read.
func ReadPaused(s *cdp.Session, e cdp.Event) (r Paused, ok bool) {
	r.session = s
	return r, e.Decode(&r) == nil
}

// Fail ends the request for a reason, which is one of Network.ErrorReason of the protocol. It does not wait.
func (r Paused) Fail(reason string) {
	r.session.Send("Fetch.failRequest", map[string]any{"requestId": r.RequestID, "errorReason": reason})
}

// proceed sends the request to the server.
func (r Paused) proceed() {
	r.session.Send("Fetch.continueRequest", map[string]any{"requestId": r.RequestID})
}

// Fulfill answers the request without the server. It does not wait.
func (r Paused) Fulfill(status int, headers map[string]string, body []byte) {
	list := []map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		list = append(list, map[string]string{"name": name, "value": headers[name]})
	}
	phrase := http.StatusText(status)
	if phrase == "" {
		phrase = "Unknown"
	}
	r.session.Send("Fetch.fulfillRequest", map[string]any{
		"requestId": r.RequestID, "responseCode": status, "responsePhrase": phrase, "responseHeaders": list,
		"body": base64.StdEncoding.EncodeToString(body),
	})
}

// header returns a header of the request; empty if it has none.
func (r Paused) header(name string) string {
	for key, value := range r.Request.Headers {
		if strings.EqualFold(key, name) {
			return fmt.Sprint(value)
		}
	}
	return ""
}
