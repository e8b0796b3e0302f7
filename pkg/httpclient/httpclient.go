// Package httpclient has what the clients of HTTP servers have in common.
package httpclient

import (
	"errors"
	"net/http"
)

// NoUpgrade returns a transport that refuses answers with status 101. Nobody asked for another protocol, and net/http
// leaves the connection of such an answer to the caller: neither the context nor a time limit would end a read from it.
func NoUpgrade(t *http.Transport) Transport { return Transport{t} }

// Transport is what [NoUpgrade] returns.
type Transport struct{ *http.Transport }

// RoundTrip implements http.RoundTripper.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.Transport.RoundTrip(r)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		return response, err
	}
	_ = response.Body.Close()
	return nil, errors.New("it answers 101 Switching Protocols, which nobody asked for")
}
