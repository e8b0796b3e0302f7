//go:build unix

package e2e_test

import (
	"fmt"
	"testing"

	simulated "github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
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

// What covers an element is named, and nothing is touched. What lets touches through, as far as it is known, is noted.
func TestWhatCoversIsNamed(t *testing.T) {
	t.Parallel()
	const (
		cookies, saved, sign = `text "We use cookies" covers it`, `text "Saved to your basket" covers it`, `text "Everything must go"`
		hidden, absent       = "the device reports that it is not visible", "was not found"
		prompt               = "com.android.permissioncontroller is in front of its app"
	)
	android, iPhone := hardPhone{android: &simulated.AndroidOptions{}}, hardPhone{iPhone: &simulated.IPhoneOptions{}}
	for name, tt := range map[string]struct {
		phone                hardPhone
		env                  []string
		banner, notice, asks string // why an element is not tapped that lies below it
		code                 int    // of a tap below a larger text
		sign                 string // what it says
	}{
		"Android":                    {android, nil, cookies, saved, prompt, 0, sign + " lies above it, and may have received the touch"},
		"Android without the server": {android, []string{"TRAILBLAZE_UIAUTOMATOR2="}, cookies, saved, absent, 1, sign + " covers it"},
		"iOS":                        {iPhone, nil, hidden, hidden, absent, 0, "1 passed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newPhoneDesk(t)
			d.env = append(d.env, tt.env...)
			device, putBack := d.hard(tt.phone)
			defer putBack()
			tap := func(text string, code int, says string) {
				const trail = "config: { target: corner-shop }\ntrail:\n  - step: Tap\n    recording:\n      %s:\n        - tap: { text: %s, timeoutMs: 0 }\n"
				d.write("trails/tap.trail.yaml", fmt.Sprintf(trail, tt.phone.platform(), text))
				d.run("run", "--device", "phone", "trails/tap.trail.yaml").want(t, code, says)
			}
			device.Show(app.Catalog)
			tap("Contact", 1, tt.banner)
			device.Show(app.Cards)
			tap("Terms", 1, tt.notice)
			device.Show(app.Orders)
			device.Prompt()
			tap("Order 1149", 1, tt.asks)
			if touches := device.Touches(); len(touches) > 0 {
				t.Errorf("touched %+v", touches)
			}
			device.Show(app.Cards)
			tap("Sale", tt.code, tt.sign)
			if device.WrongTouches() > 0 {
				t.Errorf("touched %+v", device.Touches())
			}
		})
	}
}
