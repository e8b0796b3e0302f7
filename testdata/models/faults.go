package models

import (
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"time"
)

// Fault is what a provider does wrong. Its name is that in the tables of real providers; empty for nothing.
type Fault string

// Faults. Those of the second group are quirks of answers.
const (
	TooMany     Fault = "429"       // with Retry-After: 1
	Quota       Fault = "quota"     // 429 that waiting does not help
	Failing     Fault = "500"       //
	Overloaded  Fault = "529"       //
	NoRetry     Fault = "no_retry"  // 500 with x-should-retry: false
	HTML        Fault = "html"      // 200 with a page
	Cut         Fault = "cut"       // 200 whose body ends early
	Closed      Fault = "closed"    // the connection is closed
	Slow        Fault = "slow"      // no response for a minute
	Redirect    Fault = "redirect"  // to another address
	BadKey      Fault = "401"       //
	Huge        Fault = "huge"      // 5 MiB
	Deep        Fault = "deep"      // 100 levels
	EmptyIDs    Fault = "empty_ids" // ids of calls are empty
	ArgsObject  Fault = "args_object"
	FinishStop  Fault = "finish_stop"
	NoUsage     Fault = "no_usage"
	NoChoices   Fault = "no_choices"
	HalfCall    Fault = "half_call" // cut off within a call
	ErrorList   Fault = "error_list"
	FailedAfter Fault = "failed"       // 200 with an error in it
	ChoiceError Fault = "choice_error" // 200 with an error in the choice, by chat
	Switched    Fault = "101"          // the connection stays open
	Thoughts    Fault = "thoughts"     // by chat, 100 tokens are in the total only
	LessUsage   Fault = "less_usage"   // fewer tokens than none
	MoreUsage   Fault = "more_usage"   // more tokens than there are
)

// Gone is the status of a request whose client left before there was a response.
const Gone = 499

// First returns faults of the first requests.
func First(faults ...Fault) func(int) Fault {
	return func(n int) Fault {
		if n <= len(faults) {
			return faults[n-1]
		}
		return ""
	}
}

// Always returns a fault of every request.
func Always(f Fault) func(int) Fault { return func(int) Fault { return f } }

// instead answers a request that does not reach the model.
func (f Fault) instead(w http.ResponseWriter, r *http.Request, p protocol) (status int, done bool) {
	h := w.Header()
	switch f {
	case TooMany:
		h.Set("Retry-After", "1")
		return send(w, 429, p.fail(429, "rate_limit_error", "rate_limit_exceeded", "slow down")), true
	case Quota:
		return send(w, 429, p.fail(429, "insufficient_quota", "insufficient_quota", "you exceeded your current quota")), true
	case ErrorList:
		return send(w, 429, []any{map[string]any{"error": map[string]any{
			"code": 429, "message": "Resource has been exhausted", "status": "RESOURCE_EXHAUSTED",
			"details": []any{map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s"}},
		}}}), true
	case Failing:
		return send(w, 500, p.fail(500, "api_error", "server_error", "it broke")), true
	case NoRetry:
		h.Set("X-Should-Retry", "false")
		return send(w, 500, p.fail(500, "api_error", "server_error", "it broke for good")), true
	case Overloaded:
		return send(w, 529, p.fail(529, "overloaded_error", "", "Overloaded")), true
	case BadKey:
		return send(w, 401, p.fail(401, "authentication_error", "invalid_api_key", "the key is not valid")), true
	case HTML:
		h.Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html><body>Please sign in</body></html>"))
		return 200, true
	case Huge:
		_, _ = w.Write([]byte(`{"id":"` + strings.Repeat("x", 5<<20) + `"}`))
		return 200, true
	case Deep:
		_, _ = w.Write([]byte(strings.Repeat("[", 100) + strings.Repeat("]", 100)))
		return 200, true
	case NoChoices:
		return send(w, 200, map[string]any{"id": "x", "object": "chat.completion", "choices": []any{}}), true
	case FailedAfter:
		return send(w, 200, p.fail(500, "api_error", "server_error", "it broke after it began")), true
	case ChoiceError:
		return send(w, 200, map[string]any{"id": "x", "object": "chat.completion", "choices": []any{map[string]any{
			"index": 0, "finish_reason": "error", "error": map[string]any{"code": 502, "message": "upstream is gone"},
			"message": map[string]any{"role": "assistant", "content": ""},
		}}}), true
	case Redirect:
		http.Redirect(w, r, "http://127.0.0.1:1/elsewhere", http.StatusTemporaryRedirect)
		return 307, true
	case Switched:
		h.Set("Connection", "Upgrade")
		h.Set("Upgrade", "other")
		w.WriteHeader(http.StatusSwitchingProtocols)
		_, _, _ = http.NewResponseController(w).Hijack() // nobody closes it
		return 101, true
	case Closed:
		hangUp(w)
		return 0, true
	case Slow:
		select {
		case <-r.Context().Done():
			return Gone, true
		case <-time.After(time.Minute):
			return 0, true
		}
	}
	return 0, false
}

// usage returns what the provider says of a usage.
func (f Fault) usage(u usage) usage {
	switch f {
	case LessUsage:
		return usage{-u.input * 1000, 0, -1}
	case MoreUsage:
		return usage{math.MaxInt - 1, 0, math.MaxInt - 1}
	}
	return u
}

// send sends an answer, cut in half for Cut.
func (f Fault) send(w http.ResponseWriter, answer any) int {
	if f != Cut {
		return send(w, 200, answer)
	}
	data, _ := json.Marshal(answer) // made of JSON
	w.Header().Set("Content-Length", "100000")
	_, _ = w.Write(data[:len(data)/2])
	_ = http.NewResponseController(w).Flush()
	hangUp(w)
	return 200
}

// hangUp closes the connection.
func hangUp(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}
