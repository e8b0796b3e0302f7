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

// Ports below those that systems give to whoever asks for any (Linux from 32768, others from 49152), so that nobody gets one of ours
// between our choice and the moment when the server listens.
const (
	firstPort = 20000
	lastPort  = 32767
	maxTries  = 1000
)

// port is a port of 127.0.0.1 that no other trailblaze of the machine chooses.
type port struct {
	number int
	held   *net.UDPConn // the UDP port of that number: what makes the choice known to them
}

// reserve chooses a free port.
func reserve(ctx context.Context) (*port, error) {
	var last error
	for range maxTries {
		p, err := hold(ctx, firstPort+rand.IntN(lastPort-firstPort+1))
		if err == nil {
			return p, nil
		}
		last = err
	}
	return nil, fault.Wrap(fault.Server, last, "is the loopback interface up?", "finding a free port")
}

// hold chooses a port that any server can have: also one that asks without SO_REUSEADDR, and gets no port whose last connection ended
// within the minute.
func hold(ctx context.Context, number int) (*port, error) {
	held, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: number})
	if err != nil {
		return nil, err
	}
	p := &port{number, held}
	as := net.ListenConfig{Control: withoutReuse}
	listener, err := as.Listen(ctx, "tcp4", p.address())
	if err != nil {
		p.free()
		return nil, err
	}
	_ = listener.Close()
	return p, nil
}

func (p *port) free() { _ = p.held.Close() }

func (p *port) address() string { return "127.0.0.1:" + strconv.Itoa(p.number) }

func (p *port) base() string { return "http://" + p.address() }

// firstPause and lastPause are how long to wait before asking again.
const (
	firstPause = 2 * time.Millisecond
	lastPause  = 50 * time.Millisecond
)

// answer asks at the port until somebody speaks HTTP there, and returns where MCP is. It returns "" when ctx ends first.
func (p *port) answer(ctx context.Context, token string) string {
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the token is for this process
	}
	base := p.base()
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, lastPause) {
		if here, there := ask(ctx, client, base+"/mcp", token); there {
			if here {
				return base + "/mcp"
			}
			if here, _ := ask(ctx, client, base+"/", token); here {
				return base + "/"
			}
			return base + "/mcp" // or a server that knows no ping, which the handshake will tell
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
	return ""
}

// ask sends a ping. there says that somebody answers; here, that they do not deny that there is something.
func ask(ctx context.Context, client *http.Client, url, token string) (here, there bool) {
	ping := strings.NewReader(`{"jsonrpc":"2.0","id":"trailblaze","method":"ping"}`)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, ping)
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
	return !elsewhere(resp), resp.StatusCode != http.StatusServiceUnavailable
}
