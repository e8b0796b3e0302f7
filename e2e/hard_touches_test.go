//go:build unix

package e2e_test

import (
	"testing"

	simulated "github.com/trailblaze/trailblaze/testdata/phones"
)

// plainPhones are phones without any difficulty of their own: lists move on when a finger leaves them, and labels,
// layers, notices and headers lie above what is touched, as everywhere.
func plainPhones() []hardPhone {
	return []hardPhone{
		{name: "an Android phone", android: &simulated.AndroidOptions{}},
		{name: "an iPhone", iPhone: &simulated.IPhoneOptions{}},
	}
}

// Without the UiAutomator2 server a finger cannot be held still before it is lifted.
func TestTouchesWithoutServer(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	d.env = append(d.env, "TRAILBLAZE_UIAUTOMATOR2=")
	phone, putBack := d.hard(hardPhone{android: &simulated.AndroidOptions{}})
	defer putBack()
	for _, name := range []string{"touch-what-lies-below", "scroll-through-orders"} {
		d.run("run", "--device", "phone", d.shopTrail(name)).want(t, 0, "1 passed")
	}
	if wrong := phone.WrongTouches(); wrong > 0 {
		t.Errorf("%d touches hit nothing: %v", wrong, phone.Touches())
	}
}
