package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/httpclient"
	"github.com/trailblaze/trailblaze/pkg/server"
)

func TestCertificateErrors(t *testing.T) {
	t.Parallel()
	tools := goHandler(t)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("a request over %s", r.Proto)
		}
		tools.ServeHTTP(w, r)
	}))
	s.Config.ErrorLog, s.EnableHTTP2 = discardLog(), true
	s.StartTLS()
	t.Cleanup(s.Close)
	trusted := x509.NewCertPool()
	trusted.AddCert(s.Certificate())
	later := func() time.Time { return s.Certificate().NotAfter.Add(time.Hour) }
	for name, tt := range map[string]struct {
		url  string
		tls  *tls.Config
		want string // empty when it works
	}{
		"trusted": {s.URL, &tls.Config{RootCAs: trusted}, ""},
		"another name": {
			strings.Replace(s.URL, "127.0.0.1", "localhost", 1), &tls.Config{RootCAs: trusted},
			"its certificate is for another name",
		},
		"expired": {
			s.URL, &tls.Config{RootCAs: trusted, Time: later},
			"its certificate is not valid now (1970-01-01 to 2084-01-29)",
		},
		"not trusted": {
			s.URL, &tls.Config{RootCAs: x509.NewCertPool()},
			"its certificate is signed by an authority that this machine does not trust",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, _ := config(t, Spec{}, nil)
			cfg.Launch = func(ctx context.Context) (server.Link, error) {
				l, err := Open(ctx, Spec{Name: "team", URL: tt.url})
				if err != nil {
					return nil, err
				}
				l.client.Transport.(httpclient.Transport).TLSClientConfig = tt.tls
				return l, nil
			}
			srv, err := server.Start(t.Context(), cfg)
			if err == nil {
				t.Cleanup((&testServer{srv, &logRecorder{}}).stop(t))
			}
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Start: %v, want %q", err, tt.want)
			}
		})
	}
}

func TestConnectFailures(t *testing.T) {
	t.Parallel()
	l := &Link{timing: defaultTiming()}
	for want, err := range map[string]error{
		`unknown host "nosuch.example"`: &net.OpError{
			Op:  "dial",
			Err: &net.DNSError{Err: "no such host", Name: "nosuch.example", IsNotFound: true},
		},
		"connection refused":       &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
		"no connection within 10s": &net.OpError{Op: "dial", Err: context.DeadlineExceeded},
		"out of luck":              errors.New("out of luck"),
	} {
		got, hint := l.connectFailure(err)
		if got != want || hint == "" {
			t.Errorf("%v: %q, %q, want %q", err, got, hint, want)
		}
	}
}

func TestAddressAndURLWithoutSecrets(t *testing.T) {
	t.Parallel()
	for url, want := range map[string][2]string{
		"http://h/mcp":                   {"http://h/mcp", "h:80"},
		"https://me:pass@h/mcp?key=k#f":  {"https://h/mcp", "h:443"},
		"http://[::1]:8080":              {"http://[::1]:8080", "[::1]:8080"},
		"https://h.example.com:8443/a/b": {"https://h.example.com:8443/a/b", "h.example.com:8443"},
	} {
		l, err := Open(t.Context(), Spec{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]string{withoutSecrets(l.url), address(l.url)}; got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}
