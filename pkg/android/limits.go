package android

import "time"

// limits bound what a phone may take. Tests use shorter ones.
type limits struct {
	prepare time.Duration // for all that is done before the first session, such as to install the UiAutomator2 server
	boot    time.Duration // for an emulator to start
	info    time.Duration // to say which phone it is
	install time.Duration // for the phone to install an app, after it was copied
	dialog  time.Duration // until it is said that an installation may wait for a person
	unlock  time.Duration // for the lock screen to go away
	start   time.Duration // for the UiAutomator2 server to respond, after the start of its process
	retry   time.Duration // before the server is started once more
	call    time.Duration // for a response of the server
	picture time.Duration // for a picture of the server, before another way is taken
	exit    time.Duration // for the server to exit, and to know whether it has
	poll    time.Duration // between two questions
	close   time.Duration // to put back what was changed
	dump    time.Duration // for uiautomator dump
	// wakeLock is how long the server keeps the screen on without being told again.
	wakeLock time.Duration
	hide     time.Duration // for a key to hide the keyboard
	network  time.Duration // for Wi-Fi to follow airplane mode
}

func defaultLimits() limits {
	return limits{
		prepare: 5 * time.Minute, boot: 5 * time.Minute, info: 15 * time.Second, install: 2 * time.Minute, dialog: 10 * time.Second,
		unlock: 3 * time.Second,
		start:  30 * time.Second, retry: 3 * time.Second, call: 30 * time.Second, picture: 5 * time.Second, exit: 2 * time.Second, poll: 50 * time.Millisecond,
		close: 15 * time.Second, dump: 30 * time.Second, hide: time.Second, network: 3 * time.Second, wakeLock: 5 * time.Minute,
	}
}
