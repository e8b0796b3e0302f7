package server

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

const question = `{"maxTokens":10,"messages":[{"role":"user","content":{"type":"text","text":"x"}}]}`

// code returns the error of a response, 0 without one.
func code(r *jsonrpc.Response) (code int64, message string) {
	if rpc, ok := errors.AsType[*jsonrpc.Error](r.Error); ok {
		return rpc.Code, rpc.Message
	}
	return 0, ""
}

// asker is a server with the tool ask, which asks so many times, one after the other, and then responds.
func asker(times int, codes *[]int64) *memoryServer {
	m := &memoryServer{answered: make(chan *jsonrpc.Response, 100)}
	m.tools = map[string]func(*memoryCall){"ask": func(c *memoryCall) {
		for range times {
			c.link.ask()
			got, _ := code(<-m.answered)
			*codes = append(*codes, got)
		}
		c.respond("done")
	}}
	return m
}

func TestSamplingRestartsLimitOfCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var codes []int64
		s := startMemory(t, asker(6, &codes), func(c *Config) {
			c.Sample = func(context.Context, tool.Sampling) (tool.Sampled, error) {
				<-time.After(20 * time.Second)
				return tool.Sampled{Text: "blue"}, nil
			}
		})
		for range 2 { // each call may ask five times
			codes = nil
			if r := mustCall(t, s, tool.Call{Tool: "ask"}); !r.OK || len(codes) != 6 || codes[4] != 0 || codes[5] != jsonrpc.CodeInvalidRequest {
				t.Errorf("%+v %v", r, codes)
			}
		}
	})
}

func TestSamplingEndsWithItsCall(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(c *memoryCall, cancel func()){
		"the tool returns":        func(c *memoryCall, _ func()) { c.respond("done") },
		"the call is cancelled":   func(_ *memoryCall, cancel func()) { cancel() },
		"the server is stopped":   nil,
		"the call takes too long": func(*memoryCall, func()) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				asking, ended := make(chan bool), false
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				m := &memoryServer{answered: make(chan *jsonrpc.Response, 100)}
				var s *Server
				m.tools = map[string]func(*memoryCall){"ask": func(c *memoryCall) {
					c.link.ask()
					<-asking
					if end == nil {
						_ = s.Stop(t.Context())
						return
					}
					end(c, cancel)
				}}
				s = startMemory(t, m, func(c *Config) {
					c.Sample = func(ctx context.Context, _ tool.Sampling) (tool.Sampled, error) {
						close(asking)
						<-ctx.Done()
						<-time.After(time.Second) // writing what became of it
						ended = true
						return tool.Sampled{}, context.Cause(ctx)
					}
				})
				_, err := s.Call(ctx, tool.Call{Tool: "ask"})
				if !ended {
					t.Errorf("the call returned before its request for a model had ended: %v", err)
				}
			})
		})
	}
}

func TestSamplingBelongsToCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &memoryServer{answered: make(chan *jsonrpc.Response, 100), tools: map[string]func(*memoryCall){}}
		links := make(chan *memoryLink, 2)
		finish := make(chan bool)
		m.tools["hold"] = func(c *memoryCall) {
			links <- c.link
			<-finish
			c.respond("done")
		}
		sampled := 0
		s := startMemory(t, m, func(c *Config) {
			c.Parallel = true
			c.Sample = func(context.Context, tool.Sampling) (tool.Sampled, error) { sampled++; return tool.Sampled{}, nil }
		})
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { mustCall(t, s, tool.Call{Tool: "hold"}) })
		}
		link := <-links
		<-links // both calls run
		for range 11 {
			link.ask()
			<-m.answered
		}
		if sampled != 10 {
			t.Errorf("%d requests in two calls", sampled)
		}
		close(finish)
		wg.Wait()
		link.ask()
		if got, why := code(<-m.answered); got != jsonrpc.CodeInvalidRequest || !strings.Contains(why, "only while one of its tools runs") || sampled != 10 {
			t.Errorf("%d %s, %d requests", got, why, sampled)
		}
	})
}

func TestSamplingIsRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ params, want string }{
		"no JSON object":  {`[]`, "cannot be read"},
		"no messages":     {`{"maxTokens":1,"messages":[]}`, "has no messages"},
		"tools":           {`{"tools":[{"name":"t"}],"messages":[{"role":"user","content":{"type":"text"}}]}`, "may not have tools"},
		"another role":    {`{"messages":[{"role":"system","content":{"type":"text","text":"x"}}]}`, `message 1 has the role "system"`},
		"a sound":         {`{"messages":[{"role":"user","content":{"type":"audio","data":"AA=="}}]}`, `the type "audio"`},
		"no base64":       {`{"messages":[{"role":"user","content":{"type":"image","data":"?"}}]}`, "cannot be read"},
		"no content":      {`{"messages":[{"role":"user"}]}`, "has no messages"},
		"content is text": {`{"messages":[{"role":"user","content":"x"}]}`, "cannot be read"},
	} {
		if _, err := readSampling([]byte(tt.params)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r, err := readSampling([]byte(`{"systemPrompt":"s","maxTokens":-1,"tools":[],"messages":[{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"image","data":"AA=="}]}]}`))
	if err != nil || r.MaxTokens != 2000 || r.System != "s" || len(r.Messages) != 2 || r.Messages[0].Text != "a" || r.Messages[1].Role != "assistant" || len(r.Messages[1].Image) != 1 {
		t.Errorf("%v %+v", err, r)
	}
}

// A server on the SDK for Go asks.
func TestGoServerAsksModel(t *testing.T) {
	t.Parallel()
	for name, sample := range map[string]func(context.Context, tool.Sampling) (tool.Sampled, error){
		"answered": func(_ context.Context, r tool.Sampling) (tool.Sampled, error) {
			return tool.Sampled{Text: r.Messages[0].Text + " blue", Model: "test/rules", CutOff: true}, nil
		},
		"failed": func(context.Context, tool.Sampling) (tool.Sampled, error) {
			return tool.Sampled{}, fault.New(fault.Quota, "", "no money")
		},
		"panicked": func(context.Context, tool.Sampling) (tool.Sampled, error) { panic("oh") },
		"nobody":   nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := mcp.NewServer(&mcp.Implementation{Name: "go", Version: "1"}, nil)
			srv.AddTool(&mcp.Tool{Name: "ask", InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				got, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 5, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "Which?"}}}}) //nolint:staticcheck // deprecated with the older protocol, which servers speak
				text := ""
				if err != nil {
					text = err.Error()
				} else {
					said, _ := got.Content.(*mcp.TextContent)
					text = got.Model + " " + got.StopReason + ": " + said.Text
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
			})
			s, err := Start(t.Context(), Config{Name: "go", Launch: sdkLink(srv), Sample: sample, NoSampling: "nobody is there"})
			if err != nil {
				t.Fatal(err)
			}
			defer stop(t, s)
			want := map[string]string{
				"answered": "test/rules maxTokens: Which? blue", "failed": "the model cannot be asked: no money", "panicked": "oh", "nobody": "nobody is there",
			}[name]
			if r := mustCall(t, s, tool.Call{Tool: "ask"}); !strings.Contains(r.Text, want) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// sdkLinkTo is a link in memory to a server on the SDK.
type sdkLinkTo struct {
	transport mcp.Transport
	session   *mcp.ServerSession
	first     chan struct{}
	ended     chan struct{}
}

func (l *sdkLinkTo) Transport() mcp.Transport                { return l.transport }
func (l *sdkLinkTo) FirstMessage() <-chan struct{}           { return l.first }
func (l *sdkLinkTo) Done() <-chan struct{}                   { return l.ended }
func (l *sdkLinkTo) ExitError() *fault.Error                 { return nil }
func (l *sdkLinkTo) Explain(cause *fault.Error) *fault.Error { return cause }
func (l *sdkLinkTo) Stop(context.Context) error {
	defer close(l.ended)
	return l.session.Close()
}

func sdkLink(srv *mcp.Server) func(context.Context) (Link, error) {
	return func(ctx context.Context) (Link, error) {
		client, end := mcp.NewInMemoryTransports()
		session, err := srv.Connect(context.WithoutCancel(ctx), end, nil)
		l := &sdkLinkTo{client, session, make(chan struct{}), make(chan struct{})}
		close(l.first)
		return l, err
	}
}
