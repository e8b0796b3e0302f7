//go:build unix

package e2e_test

import (
	simulated "github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// hardToType are phones on which text is hard to enter or to read.
func hardToType() []hardPhone {
	with := func(o app.Options) *simulated.AndroidOptions { return &simulated.AndroidOptions{App: o} }
	return []hardPhone{
		{name: "Android 9", android: &simulated.AndroidOptions{Level: 28}},
		{name: "a hardware keyboard", android: with(app.Options{HardwareKeyboard: true})},
		{name: "an app that handles BACK before the keyboard", android: with(app.Options{BackBeforeKeyboard: true})},
		{name: "a phone that ignores ESCAPE", android: with(app.Options{IgnoreEscape: true})},
		{name: "a keyboard that does not report its state", android: &simulated.AndroidOptions{SilentKeyboard: true}},
		{name: "an app with an area of the keyboard's id", android: with(app.Options{InputArea: true})},
		{name: "a code whose focus moves late", android: with(app.Options{LateFocus: 3})},
		{name: "uiautomator cannot write to a terminal", android: &simulated.AndroidOptions{Level: 25, NoTerminal: true}},
		{name: "a code whose focus moves late on an iPhone", iPhone: &simulated.IPhoneOptions{App: app.Options{LateFocus: 3}}},
	}
}
