package model

import (
	"context"
	"net"
	"net/http"
)

// Through lets requests of c go through rt in place of the network.
func Through(c *Client, rt http.RoundTripper) { c.direct = rt }

// Dial connects as requests of c do.
func Dial(ctx context.Context, c *Client, address string) (net.Conn, error) {
	return c.transport().DialContext(ctx, "tcp", address)
}
