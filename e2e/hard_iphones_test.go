//go:build unix

package e2e_test

import (
	simulated "github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// hardIPhones are ways in which iPhones, iPads and simulators differ from the simulated iPhone without options.
func hardIPhones() []hardPhone {
	const (
		order, note, orders   = "see-an-order", "write-a-note", "scroll-through-orders"
		code, profile         = "sign-in-with-a-code", "fill-in-the-profile"
		lost, noCode, covered = `shows "da@example.com" after "ada@example.com" was entered`, `shows "7" after "4711" was entered`, "the keyboard covers it"
	)
	return []hardPhone{
		{name: "an iPad, whose keyboard has a key that hides it", iPhone: &simulated.IPhoneOptions{Tablet: true}},
		{
			name: "a field that loses the first key", iPhone: &simulated.IPhoneOptions{App: app.Options{LoseFirstKey: true}},
			fails: map[string]string{order: lost, orders: lost, note: lost, code: noCode, profile: noCode},
		},
		{name: "a simulator", iPhone: &simulated.IPhoneOptions{Simulator: true}},
		{name: "a keyboard that only a drag to the side hides", iPhone: &simulated.IPhoneOptions{App: app.Options{HidesSideways: true}}},
		{name: "a button in the middle of the screen", iPhone: &simulated.IPhoneOptions{App: app.Options{MiddleButton: true}}},
		{
			name: "a keyboard that stays", iPhone: &simulated.IPhoneOptions{App: app.Options{KeyboardStays: true}},
			fails: map[string]string{order: covered, note: covered},
		},
		{
			name:   "elements that are reported as not visible",
			iPhone: &simulated.IPhoneOptions{NotVisible: []string{"email", "password", "sign_in", "Order 1135", "save"}},
		},
		{name: "nothing is reported as visible", iPhone: &simulated.IPhoneOptions{NotVisible: []string{"*"}}},
		{name: "an app that is found at a point of the screen", iPhone: &simulated.IPhoneOptions{AppAtPoint: true}},
		{
			name: "a notification at the top of the screen", iPhone: &simulated.IPhoneOptions{AppAtPoint: true, App: app.Options{Banner: true}},
		},
		{name: "a tree that is deeper than XCTest can read", iPhone: &simulated.IPhoneOptions{Levels: 50}},
	}
}
