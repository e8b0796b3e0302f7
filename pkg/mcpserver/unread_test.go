package mcpserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/live/livetest"
	"github.com/trailblaze/trailblaze/pkg/livetool"
)

// TestAnswersThatAreNotReadAreBounded sends requests to a server without reading its answers, and then reads them.
func TestAnswersThatAreNotReadAreBounded(t *testing.T) {
	t.Parallel()
	const requests = 20
	for name, tt := range map[string]struct {
		options       Options
		made, leftOut int // steps before an answer is read, answers that are errors
	}{
		"requests": {Options{MaxPending: 5}, 5, 0},
		"bytes":    {Options{MaxUnread: 7 * 1000}, requests, requests - 6},
		"neither":  {Options{}, requests, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var made atomic.Int32
				o := tt.options
				o.Tools.Output = strings.Clone
				o.Tools.Open = func(context.Context, livetool.Start) (livetool.Opened, error) {
					return livetool.Opened{Session: &livetest.Session{OnStep: func(context.Context, live.StepRequest) (live.StepReport, error) {
						made.Add(1)
						return live.StepReport{Changes: strings.Repeat("x", 950)}, nil
					}}}, nil
				}
				in, send := io.Pipe()
				read, out := io.Pipe()
				ended := make(chan error)
				go func() { ended <- Serve(t.Context(), in, out, o) }()
				lines := bufio.NewReader(read)
				write := func(text string) { _, _ = io.WriteString(send, text+"\n") }
				go write(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
					`"clientInfo":{"name":"test","version":"1"}}}`)
				if _, err := lines.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
				go func() {
					for i := range requests {
						write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":`+
							`{"name":"step","arguments":{"step":"s","calls":[{"tap":{"text":"x"}}]}}}`, i+1))
					}
				}()
				synctest.Wait()
				if n := int(made.Load()); n != tt.made {
					t.Errorf("%d steps were made before an answer was read, want %d", n, tt.made)
				}
				leftOut := 0
				for range requests {
					line, err := lines.ReadString('\n')
					if err != nil {
						t.Fatal(err)
					}
					if strings.Contains(line, "the answer is left out, because more than 7000 bytes of answers are not read") {
						leftOut++
					}
				}
				if n := int(made.Load()); n != requests || leftOut != tt.leftOut {
					t.Errorf("%d steps were made, %d answers were left out, want %d", n, leftOut, tt.leftOut)
				}
				_ = send.Close()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestBatchesAreBounded(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{MaxPending: 3}, nil)
	c.initialize("2025-03-26")
	ping := `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	c.send("[" + strings.Repeat(ping+",", 3) + ping + "]")
	if m := c.receive(); !strings.Contains(fmt.Sprint(m["error"]), "the batch has more than 3 messages") {
		t.Errorf("%v", m)
	}
}
