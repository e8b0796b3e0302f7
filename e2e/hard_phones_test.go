//go:build unix

package e2e_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	simulated "github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// hardPhone is a way in which some real phones are harder to drive than the ones that other tests use. It has options
// for one of the platforms.
type hardPhone struct {
	name    string
	android *simulated.AndroidOptions
	iPhone  *simulated.IPhoneOptions
	serial  string // at the adb server; empty for its address
	// fails has the trails that do not pass on it, by file without .trail.yaml, with what their failure says.
	fails map[string]string
	code  int // of the trails that fail; 0 for 1
}

// hardPhones returns the rows of the table. Each file of tests about hard phones adds its own.
func hardPhones() []hardPhone {
	const noCode = `textbox shows "4" after "4711" was entered`
	return slices.Concat([]hardPhone{
		{
			name: "a field that loses the first key", android: &simulated.AndroidOptions{App: app.Options{LoseFirstKey: true}},
			fails: map[string]string{"sign-in-with-a-code": noCode, "fill-in-the-profile": noCode},
		},
	}, hardToConnect(), hardIPhones(), hardToType(), plainPhones())
}

// Every trail of the corner shop passes on every hard phone, or fails for the reason that is named. A run that is not short
// has the race detector, and is behind a short one: it replays one trail on each.
func TestTrailsOnHardPhones(t *testing.T) {
	t.Parallel()
	for _, hard := range hardPhones() {
		trails := trailsFor(hard.platform())
		if len(trails) == 0 {
			t.Fatal("the corner shop has no trails for", hard.platform())
		}
		if !testing.Short() {
			trails = trails[:1]
		}
		for _, trail := range trails {
			t.Run(hard.name+"/"+trail, func(t *testing.T) {
				t.Parallel()
				d := newPhoneDesk(t)
				phone, putBack := d.hard(hard)
				r := d.run("run", "--device", "phone", d.shopTrail(trail))
				if why, fails := hard.fails[trail]; fails {
					r.wantOutput(t, cmp.Or(hard.code, 1), why)
				} else {
					r.want(t, 0, "1 passed")
				}
				if wrong := phone.WrongTouches(); wrong > 0 {
					t.Errorf("%d touches hit nothing: %v", wrong, phone.Touches())
				}
				putBack()
			})
		}
	}
}

func (h hardPhone) platform() string {
	if h.iPhone != nil {
		return "ios"
	}
	return "android"
}

// hard starts a hard phone as the device phone of the project. The caller calls putBack, which fails the test unless the
// phone is as it was.
func (d *phoneDesk) hard(h hardPhone) (phone *app.Device, putBack func()) {
	d.t.Helper()
	const config = "target: corner-shop\ndevices: { phone: { platform: %s, %s: %q } }\n"
	if h.iPhone != nil {
		p := d.iPhoneWith(*h.iPhone)
		d.write("trailblaze.yaml", fmt.Sprintf(config, "ios", "wdaUrl", p.URL()))
		return p.App, func() {}
	}
	p := d.androidWith(*h.android)
	if h.serial != "" {
		d.rename(p.Addr(), h.serial)
	}
	d.write("trailblaze.yaml", fmt.Sprintf(config, "android", "id", cmp.Or(h.serial, p.Addr())))
	return p.App, func() { d.putBack(p) }
}

// rename gives a device another serial at the adb server that the project uses.
func (d *phoneDesk) rename(serial, to string) {
	d.t.Helper()
	renamed, err := d.adb.Rename(d.t.Context(), serial, to)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(renamed.Close)
	d.env = append(d.env, "ANDROID_ADB_SERVER_PORT="+renamed.Port)
}

// trailsFor returns the names of the trails of the corner shop that have a recording for a platform, without
// .trail.yaml.
func trailsFor(platform string) (names []string) {
	files, _ := filepath.Glob(cornerShop + "/trails/*.trail.yaml")
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), "\n      "+platform+":\n") {
			names = append(names, strings.TrimSuffix(filepath.Base(file), ".trail.yaml"))
		}
	}
	return names
}

// shopTrail adds a trail of the corner shop to the project, and returns its path in it.
func (d *phoneDesk) shopTrail(name string) string {
	d.t.Helper()
	path := "trails/" + name + ".trail.yaml"
	text, err := os.ReadFile(filepath.Join(cornerShop, path))
	if err != nil {
		d.t.Fatal(err)
	}
	d.write(path, string(text))
	return path
}
