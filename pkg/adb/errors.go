package adb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// The causes of errors, for errors.Is.
var (
	// ErrNotRunning says that nothing accepts connections at the server's address.
	ErrNotRunning = errors.New("the adb server is not running")
	// ErrNotFound says that no device has the serial.
	ErrNotFound = errors.New("the device was not found")
	// ErrOffline says that the server has the device and cannot reach it.
	ErrOffline = errors.New("the device is offline")
	// ErrUnauthorized says that nobody has accepted this computer on the device.
	ErrUnauthorized = errors.New("the device has not authorized this computer")
	// ErrNoPermission says that the server may not open the USB device.
	ErrNoPermission = errors.New("the adb server has no permission for the device")
	// ErrAmbiguous says that several devices have the serial.
	ErrAmbiguous = errors.New("several devices have the serial")
	// ErrRefused says that the device refused a service or a connection to one of its ports.
	ErrRefused = errors.New("the device refused the connection")
	// ErrMaybeExecuted says that a command was sent and its end is not known. It must not be repeated.
	ErrMaybeExecuted = errors.New("the command may have been executed")
)

var (
	errTimeout   = errors.New("timed out")
	errTooLarge  = errors.New("the output is too large")
	errLost      = errors.New("the connection ended before the response did")
	errMalformed = errors.New("not a response of the adb server's protocol")
)

// refusal is what the server or the device answered with FAIL.
type refusal string

// Error implements error.
func (r refusal) Error() string { return "adb: " + string(r) }

// refusalCause is how a refusal is recognized, and what to do about it.
type refusalCause struct {
	text  string // in the refusal
	cause error
	hint  string
}

func refusalCauses() []refusalCause {
	const (
		list      = "`adb devices -l` lists the devices that are connected"
		connect   = "connect it again; " + list
		reconnect = "`adb reconnect offline` or reconnecting the cable may help; over TCP, `adb disconnect` and `adb connect`"
		udev      = "see the udev rules in Android's documentation, https://developer.android.com/studio/run/device"
		authorize = "unlock the device and accept the prompt \"Allow USB debugging?\"; if none is shown, reconnect the cable"
	)
	return []refusalCause{
		{"not found", ErrNotFound, connect},
		{"no devices", ErrNotFound, list},
		{"unauthorized", ErrUnauthorized, authorize},
		{"still authorizing", ErrUnauthorized, authorize},
		{"offline", ErrOffline, reconnect},
		{"still connecting", ErrOffline, "wait until `adb devices -l` shows it as device"},
		{"no permissions", ErrNoPermission, udev},
		{"insufficient permissions", ErrNoPermission, udev},
		{"more than one", ErrAmbiguous, list},
		{"closed", ErrRefused, ""},
	}
}

// newFault returns the error for what was tried and why it failed.
func (s Server) newFault(ctx context.Context, what string, err error) *fault.Error {
	if known := fault.As(err); known != nil {
		return known
	}
	e := &fault.Error{Kind: fault.Device, Cause: err}
	cause := context.Cause(ctx)
	if cause == nil && (errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)) {
		cause = errTimeout // a connection may reach the deadline of ctx before the timer of ctx fires
	}
	switch {
	case errors.Is(cause, errTimeout), errors.Is(cause, context.DeadlineExceeded):
		e.Kind, e.Message = fault.CallTimeout, what+": timed out waiting for the response"
		e.Hint = "`adb devices -l` shows whether the device is reachable"
		e.Cause = errors.Join(cause, err)
	case cause != nil:
		e.Kind, e.Message = fault.Cancelled, fmt.Sprintf("%s: %v", what, cause)
		e.Cause = errors.Join(cause, err)
	case errors.Is(err, errTooLarge):
		e.Kind, e.Message = fault.TooLarge, fmt.Sprintf("%s: %v", what, errTooLarge)
	case errors.Is(err, errMalformed):
		e.Kind, e.Message = fault.ProtocolError, fmt.Sprintf("%s: %s did not respond like an adb server", what, s)
		e.Hint = "check ADB_SERVER_SOCKET and ANDROID_ADB_SERVER_PORT"
	case errors.Is(err, ErrNotRunning):
		e.Message = fmt.Sprintf("%s: no adb server is running at %s (%v)", what, s, reason(err))
		e.Hint = "`adb start-server` starts it; ADB_SERVER_SOCKET or ANDROID_ADB_SERVER_PORT names another one"
	default:
		e.Message, e.Hint, e.Cause = explainRefusal(what, err)
	}
	return e
}

// explainRefusal returns the message, the hint and the cause for what adb said, or for an error of the connection.
func explainRefusal(what string, err error) (message, hint string, cause error) {
	message = fmt.Sprintf("%s: %v", what, err)
	refused, ok := errors.AsType[refusal](err)
	if !ok {
		return message, "", err
	}
	if refused == "" { // as for a port that is to be forwarded to a device that is offline
		return what + ": adb refused without a reason", "`adb devices -l` shows whether the device is offline", err
	}
	first, _, _ := strings.Cut(string(refused), "\n") // the others recommend to end the server
	message = fmt.Sprintf("%s: adb: %s", what, strings.TrimSuffix(first, "."))
	for _, known := range refusalCauses() {
		if strings.Contains(string(refused), known.text) {
			return message, known.hint, errors.Join(known.cause, err)
		}
	}
	return message, "", err
}

// maybeExecuted marks the error of a command that was sent and not refused.
func maybeExecuted(err error) error {
	if _, refused := errors.AsType[refusal](err); refused || err == nil {
		return err
	}
	return unconfirmed{err}
}

// unconfirmed is an error whose causes include ErrMaybeExecuted.
type unconfirmed struct{ error }

// Unwrap returns the causes.
func (u unconfirmed) Unwrap() []error { return []error{u.error, ErrMaybeExecuted} }

// lostError returns an errLost for a connection that ended in the middle of a response.
func lostError(err error) error {
	op, failed := errors.AsType[*net.OpError](err)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errLost
	case failed && op.Op == "read" && !op.Timeout():
		return fmt.Errorf("%w: %w", errLost, op.Err)
	}
	return err
}

// reason returns why connecting failed, without the address.
func reason(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}
