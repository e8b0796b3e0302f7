package android

import "time"

// limits bound what a phone may take. Tests use shorter ones.
type limits struct {
	prepare time.Duration // for all that is done before the first session, such as to install the UiAutomator2 server
	info    time.Duration // to say which phone it is
	start   time.Duration // for the UiAutomator2 server to respond, after the start of its process
	call    time.Duration // for a response of the server
	exit    time.Duration // for the server to exit, and to know whether it has
	poll    time.Duration // between two questions
	close   time.Duration // to put back what was changed
	dump    time.Duration // for uiautomator dump
}

func defaultLimits() limits {
	return limits{
		prepare: 5 * time.Minute, info: 15 * time.Second,
		start: 30 * time.Second, call: 30 * time.Second, exit: 2 * time.Second, poll: 50 * time.Millisecond,
		close: 15 * time.Second, dump: 30 * time.Second,
	}
}
