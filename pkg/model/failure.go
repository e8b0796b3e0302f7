package model

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// failure is why an attempt has no answer.
type failure struct {
	status     int // 0 when there is none
	again      bool
	asked      time.Duration // how long the provider asks to wait, 0 or less when it does not
	unreadable bool          // it was answered, and may cost, but the answer is of no use
	key        string        // with which it was sent
	fault      *fault.Error
}

func final(err error) *failure {
	f := fault.As(err)
	if f == nil {
		f = &fault.Error{Kind: fault.Provider, Message: err.Error(), Cause: err}
	}
	return &failure{fault: f}
}

// unreachable returns the failure of an attempt that got no response.
func (c *Client) unreachable(err error) *failure {
	if f := fault.As(err); f != nil { // an address that is refused
		return &failure{fault: f}
	}
	_, badCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, unknownAuthority := errors.AsType[x509.UnknownAuthorityError](err)
	what := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		what = fmt.Sprintf("it did not respond within %v", c.Limits.Attempt)
	}
	hint := "see whether the provider runs and baseUrl is its address"
	if c.Provider.KeyEnv != "" {
		hint = "see whether this machine reaches " + c.base.Host + ", if necessary by HTTPS_PROXY"
	}
	return &failure{
		again: !badCertificate && !unknownAuthority, asked: -1,
		fault: fault.New(fault.Provider, hint, "%s cannot be reached: %s", c.Name(), c.Redact(what)),
	}
}

// judge returns why a response is not an answer, nil if it is one.
func (c *Client) judge(resp *http.Response, body []byte, err error) *failure {
	var fail *failure
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		fail = &failure{fault: fault.New(fault.Provider, "write the address that answers as baseUrl; redirects are not followed, because requests have a key",
			"it redirects to another address")}
	case resp.StatusCode != http.StatusOK:
		fail = statusFailure(resp.StatusCode, parseError(body))
	case err != nil:
		fail = unreadable("it was cut off: " + err.Error())
	case len(body) > maxBody:
		fail = unreadable("it has more than 4 MiB")
	case !json.Valid(body):
		fail = unreadable("it is not JSON: " + text.HeadBytes(text.FirstLine(string(body)), 100))
	case depth(body) > maxDepth:
		fail = unreadable("it is nested more than 64 levels deep")
	default:
		fail = c.codec.inspect(body)
	}
	if fail == nil {
		return nil
	}
	if wait := askedWait(resp.Header); wait > 0 {
		fail.asked = wait
	}
	if again, err := strconv.ParseBool(resp.Header.Get("X-Should-Retry")); err == nil && fail.fault.Kind != fault.Quota && resp.StatusCode >= 400 {
		fail.again = again
	}
	c.describe(fail)
	return fail
}

// describe completes the message of a failure with the model, and its hint with the key.
func (c *Client) describe(fail *failure) {
	f := fail.fault
	f.Message = c.Name() + ": " + c.Redact(f.Message)
	if fail.status == http.StatusUnauthorized {
		switch {
		case c.Provider.KeyEnv != "":
			f.Hint = "see whether " + c.Provider.KeyEnv + " has a key of " + c.base.Host + " that is valid"
		case len(c.Provider.KeyCommand) > 0:
			f.Hint = "see what `" + strings.Join(c.Provider.KeyCommand, " ") + "` prints; it was run again"
		default:
			f.Hint = "the provider wants a key: name its variable as apiKeyEnv of the provider"
		}
	}
}

func unreadable(why string) *failure {
	return &failure{
		again: true, asked: -1, unreadable: true,
		fault: fault.New(fault.Provider, "see whether baseUrl and protocol are those of the provider", "the answer cannot be read: %s", why),
	}
}

// notAnAnswer returns the failure for JSON of status 200 that is not an answer. Some gateways report errors so.
func notAnAnswer(body []byte, why string) *failure {
	e := parseError(body)
	if e.message == "" {
		return unreadable(why)
	}
	status, err := strconv.Atoi(e.code)
	if err != nil || status < 400 || status > 599 {
		status = http.StatusInternalServerError
	}
	return statusFailure(status, e)
}

// failedResponse returns the failure for a response whose status is failed.
func failedResponse(code, message string) *failure {
	status := http.StatusBadRequest
	switch code {
	case "server_error":
		status = http.StatusInternalServerError
	case "rate_limit_exceeded":
		status = http.StatusTooManyRequests
	}
	return statusFailure(status, apiError{code: code, message: message})
}

// statusFailure returns the failure for a status that is not 200.
func statusFailure(status int, e apiError) *failure {
	fail := &failure{status: status, asked: e.wait}
	said := strings.TrimSuffix(fmt.Sprintf("status %d: %s", status, text.Shorten(text.FirstLine(e.message), 300)), ": ")
	switch {
	case e.isQuota() || status == http.StatusPaymentRequired:
		fail.fault = fault.New(fault.Quota, "see the limits and the billing of the account; waiting does not help", "what the account may use is used up (%s)", said)
	case status == http.StatusTooManyRequests:
		fail.again = true
		fail.fault = fault.New(fault.RateLimit, "use fewer --workers, set maxConcurrent of the provider, or raise the limit of the account", "too many requests (%s)", said)
	case status == http.StatusRequestTimeout || status == http.StatusConflict || status >= 500:
		fail.again = true
		fail.fault = fault.New(fault.Provider, "try again later", "it failed (%s)", said)
	case status == http.StatusRequestEntityTooLarge || e.isTooLong():
		fail.fault = fault.New(fault.Provider, "use a model with a longer context", "the request is too long (%s)", said)
	case status == http.StatusUnauthorized:
		fail.fault = fault.New(fault.Provider, "", "it rejects the key (%s)", said)
	case status == http.StatusForbidden:
		fail.fault = fault.New(fault.Provider, "see what the key and its account may use", "it does not permit the request (%s)", said)
	case status == http.StatusNotFound:
		fail.fault = fault.New(fault.Provider, "see whether the provider has a model of this name, and whether baseUrl is right", "it does not know the model or the address (%s)", said)
	default:
		fail.fault = fault.New(fault.Provider, "see the options of the model in trailblaze.yaml: toolCalls, images, reasoning, temperature, maxOutputTokens", "it rejects the request (%s)", said)
	}
	return fail
}

// apiError is the body of an error of any provider.
type apiError struct {
	kind, code, message string        // code is that of a status in some
	details             []string      // codes and kinds in the details
	wait                time.Duration // that it asks for, 0 or less when it does not
}

func (e apiError) isQuota() bool {
	known := []string{"insufficient_quota", "enforced_spend_limit_reached", "billing_error", "billing_hard_limit_reached"}
	return slices.ContainsFunc(append(e.details, e.kind, e.code), func(s string) bool { return slices.Contains(known, s) || strings.HasPrefix(s, "quota per day") })
}

func (e apiError) isTooLong() bool {
	return e.code == "context_length_exceeded" || e.kind == "request_too_large" || strings.Contains(e.message, "prompt is too long")
}

// parseError reads the body of an error. One that is not JSON is the message itself.
func parseError(body []byte) apiError {
	e := apiError{wait: -1}
	var one struct {
		Error struct {
			Type    string          `json:"type"`
			Code    any             `json:"code"`
			Status  string          `json:"status"`
			Message any             `json:"message"`
			Details json.RawMessage `json:"details"`
		} `json:"error"`
	}
	raw := body
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		raw = list[0]
	}
	if err := json.Unmarshal(raw, &one); err != nil {
		if e.message = string(body[:min(len(body), 2000)]); json.Valid(raw) {
			var short struct {
				Error string `json:"error"`
			}
			_ = json.Unmarshal(raw, &short) // an answer of another form has no message
			e.message = short.Error
		}
		return e
	}
	e.kind = one.Error.Type
	if one.Error.Code != nil {
		e.code = fmt.Sprint(one.Error.Code)
	}
	if one.Error.Message != nil {
		e.message = fmt.Sprint(one.Error.Message)
	}
	e.readDetails(one.Error.Details)
	return e
}

// readDetails reads Google's list of details, or Anthropic's object.
func (e *apiError) readDetails(raw json.RawMessage) {
	var object struct {
		ErrorCode string `json:"error_code"`
	}
	if json.Unmarshal(raw, &object) == nil {
		e.details = append(e.details, object.ErrorCode)
		return
	}
	var list []struct {
		Type       string `json:"@type"`
		RetryDelay string `json:"retryDelay"`
		Violations []struct {
			QuotaID string `json:"quotaId"`
		} `json:"violations"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return
	}
	for _, d := range list {
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && strings.HasSuffix(d.Type, ".RetryInfo") {
			e.wait = wait
		}
		for _, v := range d.Violations {
			if strings.Contains(v.QuotaID, "PerDay") {
				e.details = append(e.details, "quota per day "+v.QuotaID)
			}
		}
	}
}

// askedWait returns how long the headers of a response ask to wait, 0 or less when they do not.
func askedWait(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 {
		return seconds(ms / 1000)
	}
	value := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil && s >= 0 {
		return seconds(s)
	}
	if at, err := http.ParseTime(value); err == nil {
		return time.Until(at)
	}
	return -1
}

// seconds returns a duration. It is at most a day, so that it does not overflow.
func seconds(s float64) time.Duration { return time.Duration(min(s, 86400) * float64(time.Second)) }
