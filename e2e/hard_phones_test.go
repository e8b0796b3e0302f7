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

// Every trail of the corner shop passes on every hard phone, or fails for the reason that is named.
func TestTrailsOnHardPhones(t *testing.T) {
	t.Parallel()
	for _, hard := range hardPhones() {
		t.Run(hard.name, func(t *testing.T) {
			t.Parallel()
			d := newPhoneDesk(t)
			platform, phone, putBack := d.hard(hard)
			defer putBack()
			for _, trail := range d.shopTrails(platform) {
				name := strings.TrimSuffix(filepath.Base(trail), ".trail.yaml")
				phone.Clear(app.ShopID) // trails for iOS cannot
				r := d.run("run", "--device", "phone", trail)
				if why, fails := hard.fails[name]; fails {
					r.wantOutput(t, cmp.Or(hard.code, 1), why)
				} else {
					r.want(t, 0, "1 passed")
				}
			}
			if wrong := phone.WrongTouches(); wrong > 0 {
				t.Errorf("%d touches hit nothing: %v", wrong, phone.Touches())
			}
		})
	}
}

// hard starts a hard phone as the device phone of the project, and returns its platform. The
// caller calls putBack, which fails the test unless the phone is as it was.
func (d *phoneDesk) hard(h hardPhone) (platform string, phone *app.Device, putBack func()) {
	d.t.Helper()
	const config = "target: corner-shop\ndevices: { phone: { platform: %s, %s: %q } }\n"
	if h.iPhone != nil {
		p := d.iPhoneWith(*h.iPhone)
		d.write("trailblaze.yaml", fmt.Sprintf(config, "ios", "wdaUrl", p.URL()))
		return "ios", p.App, func() {}
	}
	p := d.androidWith(*h.android)
	if h.serial != "" {
		d.rename(p.Addr(), h.serial)
	}
	d.write("trailblaze.yaml", fmt.Sprintf(config, "android", "id", cmp.Or(h.serial, p.Addr())))
	return "android", p.App, func() { d.putBack(p) }
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

// shopTrails adds all trails of the corner shop that have a recording for a platform to the project, and returns their
// paths in it.
func (d *phoneDesk) shopTrails(platform string) (paths []string) {
	d.t.Helper()
	files, err := filepath.Glob(cornerShop + "/trails/*.trail.yaml")
	if err != nil || len(files) == 0 {
		d.t.Fatal("the corner shop has no trails", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			d.t.Fatal(err)
		}
		if strings.Contains(string(text), "\n      "+platform+":\n") {
			paths = append(paths, "trails/"+filepath.Base(file))
			d.write(paths[len(paths)-1], string(text))
		}
	}
	return paths
}
