package engine

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// networkError returns the error that a script sees as the cause of "fetch failed", with node's code and message.
func networkError(err error, u *url.URL) error {
	if known, ok := errors.AsType[*hostError](err); ok {
		return known
	}
	var lookup *net.DNSError
	var dial *net.OpError
	switch {
	case errors.Is(err, context.Canceled):
		return &hostError{Name: "Error", Code: "ABORT_ERR", Message: "This operation was aborted"}
	case errors.As(err, &lookup):
		return lookupError(lookup, u.Hostname())
	case certificateCode(err) != "":
		return &hostError{Code: certificateCode(err), Message: err.Error()}
	case errors.As(err, &dial) && dial.Op == "dial":
		return dialError(err, dial)
	}
	return bodyError(err)
}

func lookupError(err *net.DNSError, host string) error {
	code := "ENOTFOUND"
	if err.IsTimeout || err.IsTemporary {
		code = "EAI_AGAIN"
	}
	return &hostError{
		Code: code, Message: fmt.Sprintf("getaddrinfo %s %s", code, host),
		Props: map[string]any{"syscall": "getaddrinfo", "hostname": host},
	}
}

func dialError(err error, dial *net.OpError) error {
	code, number := systemCode(err)
	h := &hostError{Code: code, Props: map[string]any{"errno": float64(number), "syscall": "connect"}}
	if dial.Addr == nil {
		h.Message = "connect " + code
		return h
	}
	h.Message = "connect " + code + " " + dial.Addr.String()
	if host, port, err := net.SplitHostPort(dial.Addr.String()); err == nil {
		n, _ := strconv.Atoi(port)
		h.Props["address"], h.Props["port"] = host, float64(n)
	}
	return h
}

// systemCode returns node's code for a network error, and its negative number.
func systemCode(err error) (code string, number int) {
	var errno syscall.Errno
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return "ETIMEDOUT", -110
	case !errors.As(err, &errno):
		return "ECONNRESET", -104
	}
	if code = errnoName(errno); code == "" {
		code = "ECONNRESET"
	}
	return code, -int(errno)
}

// certificateCode returns OpenSSL's code for a certificate error; empty for other errors.
func certificateCode(err error) string {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var verify *tls.CertificateVerificationError
	switch {
	case errors.As(err, &unknown) && unknown.Cert != nil && unknown.Cert.Subject.String() == unknown.Cert.Issuer.String():
		return "DEPTH_ZERO_SELF_SIGNED_CERT"
	case errors.As(err, &unknown):
		return "UNABLE_TO_VERIFY_LEAF_SIGNATURE"
	case errors.As(err, &host):
		return "ERR_TLS_CERT_ALTNAME_INVALID"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "CERT_HAS_EXPIRED"
	case errors.As(err, &invalid), errors.As(err, &verify):
		return "CERT_REJECTED"
	}
	return ""
}

// bodyError returns the error that a script sees when a connection fails after it was established.
func bodyError(err error) error {
	if known, ok := errors.AsType[*hostError](err); ok {
		return known
	}
	var errno syscall.Errno
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, io.ErrClosedPipe):
		return &hostError{Code: "ABORT_ERR", Message: "This operation was aborted"}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(err.Error(), "server closed idle connection"):
		return &hostError{Name: "Error", Code: "UND_ERR_SOCKET", Message: "other side closed"}
	case errors.As(err, &errno):
		code, number := systemCode(err)
		return &hostError{Code: code, Message: "read " + code, Props: map[string]any{"errno": float64(number), "syscall": "read"}}
	}
	return &hostError{Code: "UND_ERR_SOCKET", Message: err.Error()}
}
