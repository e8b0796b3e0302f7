//go:build unix

package e2e_test

import (
	"archive/zip"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/mobile/source"
	simulated "github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// unzip returns the files of an archive.
func (d *phoneDesk) unzip(name string) map[string]string {
	d.t.Helper()
	archive, err := zip.OpenReader(d.path(name))
	if err != nil {
		d.t.Fatal(err)
	}
	defer archive.Close()
	files := map[string]string{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			d.t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			d.t.Fatal(err)
		}
		files[f.Name] = string(data)
	}
	return files
}

// wantFiles checks that an archive has files, and that nothing in it has one of some texts.
func wantFiles(t *testing.T, files map[string]string, names []string, without ...string) {
	t.Helper()
	for _, name := range names {
		if files[name] == "" {
			t.Errorf("the archive has no %s: %s", name, files["answers.json"])
		}
	}
	for name, data := range files {
		for _, text := range without {
			if strings.Contains(data, text) {
				t.Errorf("%s has %q:\n%s", name, text, data)
			}
		}
	}
}

// doctor --collect writes what a phone answers, which the parsers read. Texts, serials and secrets are replaced.
func TestDoctorCollectsAnAndroidPhone(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	p := d.androidWith(simulated.AndroidOptions{App: app.Options{NoPrompt: true}, Image: "R5CT1234567"})
	p.App.Show(app.Orders)
	d.write("trailblaze.yaml", fmt.Sprintf("target: corner-shop\ndevices: { phone: { platform: android, id: %q } }\n", p.Addr()))
	d.run("doctor", "--collect", "phone.zip", "--device", "phone").want(t, 0, "wrote phone.zip: 14 answers of Simulated Phone, Android 14; ")
	files := d.unzip("phone.zip")
	wantFiles(t, files, []string{
		"README.txt", "answers.json", "devices.txt", "features.txt", "properties.txt", "settings.txt", "wm.txt", "input_method.txt", "window.txt",
		"activities.txt", "user.txt", "dump.xml", "status.json", "server-settings.json", "source.xml",
	}, "Order", "Lovelace", p.Addr(), "R5CT1234567", "0123456789abcdef", "ro.serialno")
	for name, read := range map[string]func([]byte, source.Options) (source.Result, error){"source.xml": source.UIAutomator2, "dump.xml": source.Dump} {
		result, err := read([]byte(files[name]), source.Options{})
		if err != nil || !strings.Contains(files[name], "Xxxxx 0000") || len(result.Tree.Nodes()) < 20 {
			t.Errorf("%s: %v\n%s", name, err, files[name])
		}
	}
	if !strings.Contains(files["README.txt"], "Simulated Phone, Android 14") || !strings.Contains(files["activities.txt"], "com.example.shop/.MainActivity") {
		t.Errorf("%s\n%s", files["README.txt"], files["activities.txt"])
	}
	d.run("doctor", "--collect", "phone.zip", "--platform", "android").wantErr(t, 3, "phone.zip exists already")
	d.run("doctor", "--collect", "open.zip", "--platform", "android", "--with-text").want(t, 0)
	if open := d.unzip("open.zip"); !strings.Contains(open["source.xml"], "Order 1149") || !strings.Contains(open["README.txt"], "--with-text") {
		t.Error(open["README.txt"])
	}
	d.putBack(p)
}

// A phone whose server does not start is the one of which people need to know more.
func TestDoctorCollectsAPhoneWithoutSession(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	p := d.android()
	p.HoldUIAutomation("dev.mobile.maestro")
	r := d.run("doctor", "--collect", "phone.zip", "--platform", "android")
	r.want(t, 0, "no answer to start a session: UiAutomation of 127.0.0.1")
	files := d.unzip("phone.zip")
	wantFiles(t, files, []string{"input_method.txt", "window.txt"}, p.Addr())
	if !strings.Contains(files["answers.json"], "UiAutomation of") || !strings.Contains(files["README.txt"], "no answer") {
		t.Error(files["answers.json"])
	}
	p.HoldUIAutomation("")
	d.putBack(p)
}

func TestDoctorCollectsAnIPhone(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	p := d.iPhone()
	p.App.SetPermission(app.ShopID, app.Notifications, true)
	p.App.Show(app.Orders)
	d.env = append(d.env, "TRAILBLAZE_WDA_URL="+p.URL())
	d.run("doctor", "--collect", "phone.zip", "--platform", "ios").want(t, 0, "wrote phone.zip: 8 answers of iPhone, iOS 17.4")
	files := d.unzip("phone.zip")
	wantFiles(t, files, []string{
		"README.txt", "answers.json", "status.json", "device-info.json", "window-size.json", "screen.json", "active-app.json", "server-settings.json", "source.json",
	}, "Order", "SIMULATED-1", "127.0.0.1")
	result, err := source.WDAJSON([]byte(files["source.json"]), source.Options{})
	if err != nil || len(result.Tree.Nodes()) < 20 || !strings.Contains(files["source.json"], "Xxxxx 0000") {
		t.Errorf("%v\n%s", err, files["source.json"])
	}
}

// People without a project, or without a target, can send what their phone answers, too.
func TestDoctorCollectsWithoutTarget(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"no target":   {"trailblaze.yaml": "devices: { phone: { platform: ios } }\n"},
		"two targets": {"trailblaze.yaml": "platform: ios\n", "trailblaze-config/targets/a.yaml": "id: a\n", "trailblaze-config/targets/b.yaml": "id: b\n"},
		"no project":  {"notes.txt": ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			iPhone, project := newPhoneDesk(t).iPhone(), newProject(t, files)
			project.env = append(project.env, "TRAILBLAZE_WDA_URL="+iPhone.URL())
			project.run("doctor", "--collect", "phone.zip", "--platform", "ios").want(t, 0, "wrote phone.zip: 8 answers of iPhone")
		})
	}
}

func TestDoctorCollectIsRefused(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": "target: shop\n"})
	p.run("doctor", "--collect", "x.zip").wantErr(t, 3, "--collect needs one device", "trailblaze device list")
	p.run("doctor", "--collect", "x.zip", "--platform", "web").wantErr(t, 3, "nothing can be collected")
	p.run("doctor", "--with-text").wantErr(t, 3, "only with --collect")
}
