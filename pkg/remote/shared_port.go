package remote

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// The range of ports is below those that systems assign (Linux from 32768, others from 49152), so that no other process
// is assigned a port of this range before the server listens on it.
const (
	firstPort = 20000
	lastPort  = 32767
	maxTries  = 1000
)

// port is a port of 127.0.0.1 that no other trailblaze on the machine chooses.
type port struct {
	number      int
	reservation *net.UDPConn // the UDP port of the same number, which other trailblazes find taken
}

// reservePort chooses a free port.
func reservePort(ctx context.Context) (*port, error) {
	var last error
	for range maxTries {
		p, err := tryPort(ctx, firstPort+rand.IntN(lastPort-firstPort+1))
		if err == nil {
			return p, nil
		}
		last = err
	}
	return nil, fault.Wrap(fault.IO, last, "is the loopback interface up?", "finding a free port")
}

// tryPort reserves a port if any server can listen on it. It checks without SO_REUSEADDR, because without it a server
// cannot use a port whose last connection was closed within a minute.
func tryPort(ctx context.Context, number int) (*port, error) {
	reservation, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: number})
	if err != nil {
		return nil, err
	}
	p := &port{number, reservation}
	config := net.ListenConfig{Control: withoutReuseAddr}
	listener, err := config.Listen(ctx, "tcp4", p.address())
	if err != nil {
		p.release()
		return nil, err
	}
	_ = listener.Close()
	return p, nil
}

func (p *port) release() { _ = p.reservation.Close() }

func (p *port) address() string { return "127.0.0.1:" + strconv.Itoa(p.number) }

func (p *port) base() string { return "http://" + p.address() }

// minPause and maxPause bound the pause between two requests.
const (
	minPause = 2 * time.Millisecond
	maxPause = 50 * time.Millisecond
)

// awaitServer sends requests until an HTTP server responds at the port, and returns the URL of MCP. It returns "" if
// ctx ends first.
func (p *port) awaitServer(ctx context.Context, token string) string {
	client := &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true},
		// the token is for this process
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	base := p.base()
	for pause := minPause; ctx.Err() == nil; pause = min(2*pause, maxPause) {
		if accepted, responded := ping(ctx, client, base+"/mcp", token); responded {
			if accepted {
				return base + "/mcp"
			}
			if accepted, _ := ping(ctx, client, base+"/", token); accepted {
				return base + "/"
			}
			return base + "/mcp" // the server may not support ping; else the handshake fails
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
	return ""
}

// ping sends a ping. responded reports whether a server responds at all; accepted, whether it accepts messages at the
// URL.
func ping(ctx context.Context, client *http.Client, url, token string) (accepted, responded bool) {
	message := strings.NewReader(`{"jsonrpc":"2.0","id":"trailblaze","method":"ping"}`)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, message)
	if err != nil {
		return false, false
	}
	r.Header.Set("Content-Type", typeJSON)
	r.Header.Set("Accept", typeJSON+", "+typeStream)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(r)
	if err != nil {
		return false, false
	}
	_ = resp.Body.Close()
	return !isWrongPath(resp), resp.StatusCode != http.StatusServiceUnavailable
}
