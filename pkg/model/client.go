package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/httpclient"
)

// Options are a model, and what its requests need.
type Options struct {
	Provider Provider
	Model    string // as the provider names it
	Settings Settings

	// Key is the value of the variable Provider.KeyEnv. KeyCommand runs Provider.KeyCommand and returns what it prints;
	// its key is kept for five minutes, and asked for once more after the provider has rejected it.
	Key        string
	KeyCommand func(ctx context.Context) (string, error)

	CacheKey string                                // what requests with the same beginning have in common, such as the scope and the version
	Redact   func(string) string                   // replaces secrets in what is sent, and in errors; nil for none
	Proxy    func(*http.Request) (*url.URL, error) // of https; nil for none
	Waiting  func(wait time.Duration, why string)  // is told of a wait that lasts; may be nil
	Limits   Limits
}

// Limits are the limits of requests. Those that are 0 have the value that is written here.
type Limits struct {
	Attempts int           // of a request: 5
	Attempt  time.Duration // of an attempt: 120 s
	Wait     time.Duration // between the first two attempts, doubled from one to the next: 1 s
	MaxWait  time.Duration // that a provider may ask for: 60 s
	Shown    time.Duration // longer waits are told to Options.Waiting: 2 s
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Attempts: cmp.Or(l.Attempts, 5), Attempt: cmp.Or(l.Attempt, 120*time.Second), Wait: cmp.Or(l.Wait, time.Second),
		MaxWait: cmp.Or(l.MaxWait, time.Minute), Shown: cmp.Or(l.Shown, 2*time.Second),
	}
}

// Client is a Model of a provider. Its methods may be called from any goroutine: requests share the provider's limits.
type Client struct {
	Options
	codec  codec
	base   *url.URL
	direct http.RoundTripper
	slots  chan struct{} // nil for no limit
	keys   keyring

	isNewer atomic.Bool // the model takes max_completion_tokens only

	mu          sync.Mutex
	pausedUntil time.Time // no attempt begins before it
}

// codec writes requests and reads answers of one protocol.
type codec interface {
	// ask sends a request with a client and returns the answer. The usage is zero if the provider did not say.
	ask(ctx context.Context, c *http.Client, r Request) (Answer, Usage, error)
	// inspect returns why a body of status 200 is not an answer; nil if it is one.
	inspect(body []byte) *failure
	// authorize adds the key to a request.
	authorize(h http.Header, key string)
}

// New returns a model. It sends nothing. Its errors are of kind Misuse.
func New(o Options) (*Client, error) {
	c := &Client{Options: o}
	c.Limits = c.Limits.withDefaults()
	if c.Redact == nil {
		c.Redact = func(s string) string { return s }
	}
	if c.Waiting == nil {
		c.Waiting = func(time.Duration, string) {}
	}
	var err error
	if c.base, err = baseURL(o.Provider); err != nil {
		return nil, err
	}
	p := o.Provider
	switch {
	case o.Model == "":
		return nil, fault.New(fault.Misuse, "write "+p.Name+"/MODEL, with a model of the provider", "no model of provider %q is named", p.Name)
	case p.KeyEnv != "" && o.Key == "":
		return nil, fault.New(fault.Misuse, "set "+p.KeyEnv+" in the environment or in .env", "the key of provider %q is missing: %s is not set", p.Name, p.KeyEnv)
	case len(p.KeyCommand) > 0 && o.KeyCommand == nil:
		return nil, fault.New(fault.Bug, "", "nothing runs the key command of provider %q", p.Name)
	}
	if p.MaxConcurrent > 0 {
		c.slots = make(chan struct{}, p.MaxConcurrent)
	}
	c.direct, c.keys.key = httpclient.NoUpgrade(c.transport()), o.Key
	if len(p.KeyCommand) > 0 {
		c.keys.fetch = o.KeyCommand
	}
	switch p.Protocol {
	case Anthropic:
		if o.Settings.JSONCalls {
			return nil, fault.New(fault.Misuse, "remove toolCalls: json of the model", "models of protocol anthropic call tools; toolCalls: json is for the other protocols")
		}
		c.codec = anthropicCodec{c}
	case OpenAIResponses:
		c.codec = responsesCodec{c}
	case OpenAIChat:
		c.codec = chatCodec{c}
	default:
		return nil, fault.New(fault.Misuse, fault.DidYouMean(string(p.Protocol), Protocols()), "unknown protocol %q of provider %q", p.Protocol, p.Name)
	}
	return c, nil
}

// Name returns the model as PROVIDER/MODEL.
func (c *Client) Name() string { return c.Provider.Name + "/" + c.Model }

// baseURL returns the URL of a provider. It is https, or http to an address that is not a public one.
func baseURL(p Provider) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(p.BaseURL, "/"))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.Fragment != "":
		return nil, fault.New(fault.Misuse, `write it like "https://llm.example.com/v1"`, "the baseUrl of provider %q is not a URL with https, or http, and a host", p.Name)
	case u.User != nil:
		return nil, fault.New(fault.Misuse, "give the key by apiKeyEnv or apiKeyCommand", "the baseUrl of provider %q contains a user or a password", p.Name)
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme == "http" && ip != nil && !isPrivate(ip) {
		return nil, publicHTTP(p.Name, u.Hostname())
	}
	return u, nil
}

func publicHTTP(provider, address string) *fault.Error {
	return fault.New(fault.Misuse, "write https://; only loopback and private addresses may be reached without encryption",
		"provider %q would be reached by http at %s, which is a public address", provider, address)
}

func isPrivate(ip net.IP) bool { return ip.IsLoopback() || ip.IsPrivate() }

// Close closes the connections to the provider that are not in use.
func (c *Client) Close() { (&http.Client{Transport: c.direct}).CloseIdleConnections() }

// Ask implements Model. When the time of ctx is over while a request is tried again, the error is why it failed before.
func (c *Client) Ask(ctx context.Context, r Request) (Answer, Usage, error) {
	r = c.redacted(r)
	r.MaxOutputTokens = cmp.Or(r.MaxOutputTokens, c.Settings.OutputLimit())
	if err := c.validate(r); err != nil {
		return Answer{}, Usage{}, err
	}
	x := &exchange{client: c}
	answer, usage, err := c.codec.ask(ctx, &http.Client{Transport: x}, r)
	lost := Usage{Uncached: x.lost * inputTokens(r), Output: x.lost * r.MaxOutputTokens, Estimated: x.lost > 0}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && x.failed != nil:
		x.failed.Message += fmt.Sprintf("; %v, while it was tried again", context.Cause(ctx))
		err = x.failed
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil:
		err = c.fault(err)
	case usage == Usage{}, !usage.isPossible():
		usage = Usage{Uncached: inputTokens(r), Output: outputTokens(answer), Estimated: true}
	}
	usage = usage.Add(lost)
	usage.Attempts = x.attempts
	return answer, usage, err
}

// fault returns an error of a request as a fault.
func (c *Client) fault(err error) error {
	if f := fault.As(err); f != nil {
		return f
	}
	return fault.New(fault.Provider, "see whether baseUrl and protocol are those of the provider; `trailblaze doctor --llm` tries the model",
		"%s: %s", c.Name(), c.Redact(err.Error()))
}
