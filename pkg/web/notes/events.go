package notes

import (
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/cdp"
)

// ConsoleLine returns a line of the console. It is false for other events.
func ConsoleLine(e cdp.Event) (line string, ok bool) {
	var params struct {
		Type             string
		Args             []RemoteObject
		ExceptionDetails Exception
		Entry            struct{ Level, Text, URL string }
	}
	switch e.Method {
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
	default:
		return "", false
	}
	if e.Decode(&params) != nil {
		return "", false
	}
	switch e.Method {
	case "Runtime.consoleAPICalled":
		return params.Type + ": " + strings.Join(texts(params.Args), " "), true
	case "Runtime.exceptionThrown":
		return params.ExceptionDetails.String(), true
	}
	return params.Entry.Level + ": " + params.Entry.Text + " " + params.Entry.URL, true
}

// RequestEvent is an event about a request.
type RequestEvent struct {
	RequestID, LoaderID, Type, ErrorText string
	Timestamp                            float64
	Request                              struct {
		URL, Method, PostData string
		HasPostData           bool
		Headers               map[string]any
	}
	Response, RedirectResponse *struct {
		Status        int
		FromDiskCache bool
		Headers       map[string]any
	}
	EncodedDataLength float64
}

// ReadRequestEvent reads an event about a request. It is false for others.
func ReadRequestEvent(e cdp.Event) (r RequestEvent, ok bool) {
	switch e.Method {
	case "Network.requestWillBeSent", "Network.responseReceived", "Network.loadingFinished", "Network.loadingFailed":
	default:
		return r, false
	}
	return r, e.Decode(&r) == nil && !strings.HasPrefix(r.Request.URL, "data:")
}

// TracedRequest is a request that has not ended.
type TracedRequest struct {
	method, url, kind string
	Status            int
	Cached            bool
	Sent              float64 // seconds, by the clock of the browser
}

// Traced returns the request that begins with an event.
func (r RequestEvent) Traced() *TracedRequest {
	return &TracedRequest{method: r.Request.Method, url: r.Request.URL, kind: strings.ToLower(r.Type), Sent: r.Timestamp}
}

// Line returns a request in words; now is 0 for one that has not ended.
func (r *TracedRequest) Line(now float64, end string) string {
	words := []string{r.method, r.url}
	if r.Status > 0 {
		words = append(words, fmt.Sprint(r.Status))
	}
	if r.kind != "" {
		words = append(words, r.kind)
	}
	if now > 0 {
		words = append(words, fmt.Sprintf("%.0f ms", max(0, (now-r.Sent)*1000)))
	}
	return strings.Join(append(words, end), " ")
}

// Size says how much of the response came over the network.
func (r *TracedRequest) Size(bytes float64) string {
	if r.Cached {
		return "from the cache"
	}
	return fmt.Sprintf("%.0f bytes", bytes)
}
