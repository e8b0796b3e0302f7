package model_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/model"
	"github.com/trailblaze/trailblaze/testdata/models"
)

// inMemory is a round tripper to a handler, for tests with the time of synctest.
type inMemory struct{ http.Handler }

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	m.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// memoryClient returns a model of a provider in memory, with the waits of the program.
func memoryClient(t *testing.T, h http.Handler, change func(*model.Options)) *model.Client {
	t.Helper()
	o := options(model.OpenAIChat, "https://llm.test")
	o.Limits = model.Limits{}
	if change != nil {
		change(&o)
	}
	c := newClient(t, o)
	model.Through(c, inMemory{h})
	return c
}

func TestFaultsOfProviders(t *testing.T) {
	t.Parallel()
	for fail, want := range map[models.Fault]struct {
		attempts int
		kind     fault.Kind
		message  string
	}{
		models.TooMany:     {5, fault.RateLimit, "too many requests (status 429: slow down); this was the last of 5 attempts"},
		models.ErrorList:   {5, fault.RateLimit, "too many requests (status 429: Resource has been exhausted)"},
		models.Quota:       {1, fault.Quota, "what the account may use is used up"},
		models.Failing:     {5, fault.Provider, "it failed (status 500: it broke)"},
		models.FailedAfter: {5, fault.Provider, "it failed (status 500: it broke after it began)"},
		models.ChoiceError: {5, fault.Provider, "it failed (status 502: upstream is gone); this was the last of 5 attempts"},
		models.NoRetry:     {1, fault.Provider, "it failed (status 500: it broke for good)"},
		models.Overloaded:  {5, fault.Provider, "status 529: Overloaded"},
		models.HTML:        {5, fault.Provider, "the answer cannot be read: it is not JSON: <html>"},
		models.Cut:         {5, fault.Provider, "the answer cannot be read: it was cut off"},
		models.Closed:      {5, fault.Provider, "cannot be reached"},
		models.Switched:    {5, fault.Provider, "it answers 101 Switching Protocols"},
		models.Huge:        {5, fault.Provider, "more than 4 MiB"},
		models.Deep:        {5, fault.Provider, "more than 64 levels"},
		models.Redirect:    {1, fault.Provider, "redirects to another address"},
		models.BadKey:      {1, fault.Provider, "it rejects the key (status 401: the key is not valid)"},
	} {
		for protocol := range protocols() {
			if fail == models.ChoiceError && protocol != model.OpenAIChat {
				continue // they have no choices
			}
			t.Run(string(fail)+" by "+string(protocol), func(t *testing.T) {
				t.Parallel()
				s := &models.Server{Policy: models.Script(models.Reply{Text: "x"}), Fault: models.Always(fail)}
				c := serve(t, s, protocol, func(o *model.Options) { o.Limits.MaxWait = 2 * time.Second })
				if fail == models.TooMany || fail == models.ErrorList { // which ask to wait a second
					synctest.Test(t, func(t *testing.T) {
						model.Through(c, inMemory{s})
						expect(t, c, s, want.attempts, want.kind, want.message)
					})
					return
				}
				expect(t, c, s, want.attempts, want.kind, want.message)
			})
		}
	}
}

func expect(t *testing.T, c *model.Client, s *models.Server, attempts int, kind fault.Kind, message string) {
	t.Helper()
	answer, usage, err := c.Ask(t.Context(), request())
	switch f := fault.As(err); {
	case f == nil || f.Kind != kind || !strings.Contains(f.Message, message) || f.Hint == "":
		t.Errorf("error is %+v", err)
	case usage.Attempts != attempts || len(s.Received()) != attempts:
		t.Errorf("%d attempts, %d were received", usage.Attempts, len(s.Received()))
	case len(answer.Calls) > 0:
		t.Errorf("there are calls: %+v", answer)
	}
}

func TestAnswerAfterFaultsCountsOnce(t *testing.T) {
	t.Parallel()
	for protocol := range protocols() {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			s := &models.Server{
				Policy: models.Script(models.Reply{Calls: []models.Call{click("e1")}}),
				Fault:  models.First(models.Closed, models.Cut, models.NoChoices, models.Failing),
			}
			answer, usage, err := serve(t, s, protocol, nil).Ask(t.Context(), request())
			if err != nil || len(answer.Calls) != 1 || usage.Attempts != 5 {
				t.Errorf("%+v, %+v, %v", answer, usage, err)
			}
			if !usage.Estimated || usage.Uncached < 3*20 || usage.Output < 3*1024 { // three attempts may have been answered
				t.Errorf("usage is %+v", usage)
			}
			bodies := map[string]bool{}
			for _, r := range s.Received() {
				bodies[r.Body] = true
			}
			if len(bodies) != 1 {
				t.Errorf("the attempts differ: %v", bodies)
			}
		})
	}
}

func TestArgumentsAsObjectAreExplained(t *testing.T) {
	t.Parallel()
	for _, protocol := range []model.Protocol{model.OpenAIChat, model.OpenAIResponses} {
		s := &models.Server{Policy: models.Script(models.Reply{Calls: []models.Call{click("e1")}}), Fault: models.Always(models.ArgsObject)}
		_, _, err := serve(t, s, protocol, nil).Ask(t.Context(), request())
		if f := fault.As(err); f == nil || f.Kind != fault.Provider || !strings.Contains(f.Hint, "toolCalls: json") {
			t.Errorf("%s: %v", protocol, err)
		}
	}
}

// answers returns a handler that answers with statuses and headers, then with a text.
func answers(headers http.Header, statuses ...int) (h http.Handler, times *[]time.Time) {
	times = new([]time.Time)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		*times = append(*times, time.Now())
		if n := len(*times); n <= len(statuses) {
			maps.Copy(w.Header(), headers)
			w.WriteHeader(statuses[n-1])
			_, _ = w.Write([]byte(`{"error":{"message":"not now"}}`))
			return
		}
		_, _ = w.Write([]byte(`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"x"}}]}`))
	}), times
}

func TestWaitsBetweenAttempts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		headers  http.Header
		statuses []int
		want     []time.Duration // between attempts, within a quarter if not asked for
		asked    bool
	}{
		"backoff":             {nil, []int{500, 503, 408, 409}, []time.Duration{1e9, 2e9, 4e9, 8e9}, false},
		"Retry-After":         {http.Header{"Retry-After": {"12"}}, []int{429, 503}, []time.Duration{12e9, 12e9}, true},
		"Retry-After of 60 s": {http.Header{"Retry-After": {"60"}}, []int{429}, []time.Duration{60e9}, true},
		"Retry-After-Ms wins": {http.Header{"Retry-After": {"12"}, "Retry-After-Ms": {"1500"}}, []int{429}, []time.Duration{15e8}, true},
		"a date":              {http.Header{"Retry-After": {"Sat, 01 Jan 2000 00:00:09 GMT"}}, []int{429}, []time.Duration{9e9}, true},
		"no wait":             {http.Header{"Retry-After": {"0"}, "Retry-After-Ms": {"0"}}, []int{429, 503}, []time.Duration{1e9, 2e9}, false},
		"a date in the past":  {http.Header{"Retry-After": {"Fri, 31 Dec 1999 00:00:00 GMT"}}, []int{429, 503}, []time.Duration{1e9, 2e9}, false},
		"not a number":        {http.Header{"Retry-After": {"soon"}}, []int{429}, []time.Duration{1e9}, false},
		"retry a 400":         {http.Header{"X-Should-Retry": {"true"}}, []int{400}, []time.Duration{1e9}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, times := answers(test.headers, test.statuses...)
				var shown []time.Duration
				c := memoryClient(t, h, func(o *model.Options) {
					o.Waiting = func(wait time.Duration, why string) {
						if !strings.Contains(why, "not now") {
							t.Errorf("told why: %s", why)
						}
						shown = append(shown, wait)
					}
				})
				if _, _, err := c.Ask(t.Context(), request()); err != nil {
					t.Fatal(err)
				}
				var waits []time.Duration
				for i, at := range (*times)[1:] {
					waits = append(waits, at.Sub((*times)[i]))
				}
				for i, want := range test.want {
					if got := waits[i]; test.asked && got != want || got < want*3/4 || got > want*5/4 {
						t.Errorf("waits are %v, want %v", waits, test.want)
					}
				}
				long := slices.DeleteFunc(slices.Clone(waits), func(d time.Duration) bool { return d <= 2*time.Second })
				if !slices.Equal(shown, long) {
					t.Errorf("shown are %v of %v", shown, waits)
				}
			})
		})
	}
}

func TestLongWaitsEndARequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, times := answers(http.Header{"Retry-After": {"61"}}, 429)
		_, _, err := memoryClient(t, h, nil).Ask(t.Context(), request())
		if fault.KindOf(err) != fault.RateLimit || len(*times) != 1 || !strings.Contains(err.Error(), "asks to wait 1m1s") {
			t.Errorf("%d attempts: %v", len(*times), err)
		}
	})
}

func TestAttemptsHaveALimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stuck := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		started := time.Now()
		_, usage, err := memoryClient(t, stuck, func(o *model.Options) { o.Limits.Attempts = 2 }).Ask(t.Context(), request())
		if took := time.Since(started); usage.Attempts != 2 || took < 240*time.Second || took > 242*time.Second {
			t.Errorf("%d attempts in %v: %v", usage.Attempts, took, err)
		}
		if fault.KindOf(err) != fault.Provider || !strings.Contains(err.Error(), "did not respond within 2m0s") {
			t.Errorf("error is %v", err)
		}
	})
}

// Who asked gets to know why, when there was no time for another attempt.
func TestTimeEndsWhileARequestIsTriedAgain(t *testing.T) {
	t.Parallel()
	stuck := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	limited, _ := answers(http.Header{"Retry-After": {"60"}}, 429, 429, 429, 429)
	over := errors.New("time is over")
	for name, test := range map[string]struct {
		h       http.Handler
		limit   time.Duration
		kind    fault.Kind
		message string
	}{
		"no response":       {stuck, 3 * time.Minute, fault.Provider, "did not respond within 2m0s; time is over, while it was tried again"},
		"a limit":           {limited, 100 * time.Second, fault.RateLimit, "(status 429: not now); time is over, while it was tried again"},
		"the first attempt": {stuck, time.Minute, "", "time is over"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), test.limit, over)
				defer cancel()
				started := time.Now()
				_, _, err := memoryClient(t, test.h, nil).Ask(ctx, request())
				if took := time.Since(started); took != test.limit || !strings.HasSuffix(err.Error(), test.message) {
					t.Errorf("after %v: %v", took, err)
				}
				if f := fault.As(err); test.kind == "" && !errors.Is(err, over) || test.kind != "" && (f == nil || f.Kind != test.kind) {
					t.Errorf("error is %+v", err)
				}
			})
		})
	}
}

func TestLimitedRequestsPauseAllWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, times := answers(http.Header{"Retry-After": {"30"}}, 429)
		var mu sync.Mutex
		c := memoryClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			h.ServeHTTP(w, r)
		}), nil)
		started := time.Now()
		var workers sync.WaitGroup
		for i := range 4 {
			workers.Go(func() {
				time.Sleep(time.Duration(i) * time.Second) //nolint:forbidigo // in the time of synctest
				if _, _, err := c.Ask(t.Context(), request()); err != nil {
					t.Error(err)
				}
			})
		}
		workers.Wait()
		for i, at := range *times {
			if after := at.Sub(started); i == 0 && after != 0 || i > 0 && after < 30*time.Second {
				t.Errorf("attempt %d after %v", i, after)
			}
		}
		if len(*times) != 5 {
			t.Errorf("%d attempts", len(*times))
		}
	})
}

func TestMaxConcurrentBoundsRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		answer, _ := answers(nil)
		var mu sync.Mutex
		c := memoryClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(time.Second) //nolint:forbidigo // in the time of synctest
			running.Add(-1)
			mu.Lock()
			defer mu.Unlock()
			answer.ServeHTTP(w, r)
		}), func(o *model.Options) { o.Provider.MaxConcurrent = 2 })
		var workers sync.WaitGroup
		for range 6 {
			workers.Go(func() {
				if _, _, err := c.Ask(t.Context(), request()); err != nil {
					t.Error(err)
				}
			})
		}
		workers.Wait()
		if most.Load() != 2 {
			t.Errorf("%d requests at the same time", most.Load())
		}
	})
}

func TestCancellingEndsARequestAtOnce(t *testing.T) {
	t.Parallel()
	stuck := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	limited, _ := answers(http.Header{"Retry-After": {"50"}}, 429, 429)
	failing, _ := answers(http.Header{"Retry-After": {"50"}}, 500, 500)
	for name, h := range map[string]http.Handler{"an attempt": stuck, "a pause": limited, "a wait": failing} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				c := memoryClient(t, h, nil)
				stop := errors.New("Ctrl-C")
				time.AfterFunc(10*time.Second, func() { cancel(stop) })
				started := time.Now()
				_, _, err := c.Ask(ctx, request())
				if took := time.Since(started); !errors.Is(err, stop) || took != 10*time.Second {
					t.Errorf("after %v: %v", took, err)
				}
			})
		})
	}
}

func TestCancellingClosesTheConnection(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	closed := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server notices a closed connection only afterwards
		cancel()
		<-r.Context().Done()
		close(closed)
	}))
	defer server.Close()
	if _, _, err := newClient(t, options(model.OpenAIChat, server.URL)).Ask(ctx, request()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-closed
}

func TestKeyOfCommandIsKeptAndRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		s := &models.Server{Policy: models.Script(models.Reply{Text: "x"}), Key: "key-1"}
		c := memoryClient(t, s, func(o *model.Options) {
			o.Provider.KeyEnv, o.Provider.KeyCommand = "", []string{"print-key"}
			o.KeyCommand = func(context.Context) (string, error) {
				runs++
				return "key-" + strings.Repeat("1", min(runs, 2)) + "\n", nil
			}
		})
		ask := func(wantRuns int) error {
			t.Helper()
			_, _, err := c.Ask(t.Context(), request())
			if runs != wantRuns {
				t.Errorf("the command ran %d times, want %d", runs, wantRuns)
			}
			return err
		}
		if err := errors.Join(ask(1), ask(1)); err != nil {
			t.Error(err)
		}
		time.Sleep(5 * time.Minute)                                            //nolint:forbidigo // in the time of synctest
		if err := ask(3); !strings.Contains(fault.As(err).Hint, "print-key") { // key-11 is rejected, and asked for once more
			t.Errorf("error is %v", err)
		}
		if n := len(s.Received()); n != 4 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestKeyCommandThatFails(t *testing.T) {
	t.Parallel()
	for want, command := range map[string]func(context.Context) (string, error){
		"no key for test/scripted: not signed in": func(context.Context) (string, error) { return "", errors.New("not signed in") },
		"did not print one line":                  func(context.Context) (string, error) { return "a\nb", nil },
	} {
		o := options(model.OpenAIChat, "https://llm.test")
		o.Provider.KeyEnv, o.Provider.KeyCommand, o.KeyCommand = "", []string{"print-key"}, command
		if _, usage, err := newClient(t, o).Ask(t.Context(), request()); !strings.Contains(err.Error(), want) || usage.Attempts != 0 {
			t.Errorf("error is %v", err)
		}
	}
}

func TestKeyGoesToItsOriginOnly(t *testing.T) {
	t.Parallel()
	elsewhere := make(chan *http.Request, 10)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { elsewhere <- r }))
	defer other.Close()
	for protocol := range protocols() {
		for _, status := range []int{301, 302, 303, 307, 308} {
			server := httptest.NewServer(http.RedirectHandler(other.URL, status))
			_, usage, err := newClient(t, options(protocol, server.URL)).Ask(t.Context(), request())
			server.Close()
			if fault.KindOf(err) != fault.Provider || usage.Attempts != 1 {
				t.Errorf("%s, %d: %v", protocol, status, err)
			}
		}
	}
	if len(elsewhere) > 0 {
		t.Errorf("%d requests went elsewhere", len(elsewhere))
	}
}

func TestPlainHTTPReachesPrivateAddressesOnly(t *testing.T) {
	t.Parallel()
	c := newClient(t, options(model.OpenAIChat, "http://llm.test"))
	for address, refused := range map[string]bool{"8.8.8.8:80": true, "[2001:4860::1]:80": true, "10.255.255.1:9": false, "127.0.0.1:1": false} {
		limit := time.Millisecond // nobody may be there
		if refused {
			limit = time.Minute // to be refused before anybody is asked
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		conn, err := model.Dial(ctx, c, address)
		cancel()
		if err == nil {
			_ = conn.Close()
		}
		if got := fault.KindOf(err) == fault.Misuse; got != refused {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestProxyIsForHTTPS(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]int{"https://llm.test": 1, "http://127.0.0.1:1": 0} {
		asked := 0
		o := options(model.OpenAIChat, address)
		o.Limits.Attempts = 1
		o.Proxy = func(*http.Request) (*url.URL, error) {
			asked++
			return nil, errors.New("no proxy today")
		}
		if _, _, err := newClient(t, o).Ask(t.Context(), request()); err == nil || asked != want {
			t.Errorf("%s: asked %d times: %v", address, asked, err)
		}
	}
}

func TestTooLongIsRecognized(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{"error":{"code":"context_length_exceeded","message":"too many tokens"}}`:                        true,
		`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}`: true,
		`{"error":"model not found"}`: false,
	} {
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			_, _ = w.Write([]byte(body))
		})
		if _, _, err := memoryClient(t, h, nil).Ask(t.Context(), request()); fault.KindOf(err) != fault.Provider || strings.Contains(err.Error(), "the request is too long") != want {
			t.Errorf("%s: %v", body, err)
		} else if !want && !strings.Contains(err.Error(), "model not found") {
			t.Error(err)
		}
	}
}
