package ios

import (
	"fmt"
	"slices"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/testdata/phones"
)

// A device is listed once, and as ready only if WebDriverAgent is known to be that of it.
func TestList(t *testing.T) {
	t.Parallel()
	phone, inSimulator := startPhone(t), startPhoneWith(t, phones.IPhoneOptions{Simulator: true})
	const nowhere = "http://127.0.0.1:1"
	for name, c := range map[string]struct {
		url, udid string
		start     string
		booted    []string
		want      []string
	}{
		"phone":                {url: phone.URL(), want: []string{"phone  ready"}},
		"phone with udid":      {url: phone.URL(), udid: "U", booted: []string{"A"}, want: []string{"phone U ready", "simulator A without"}},
		"simulator":            {url: inSimulator.URL(), booted: []string{"A"}, want: []string{"simulator A ready"}},
		"one of two":           {url: inSimulator.URL(), udid: "B", booted: []string{"A", "B"}, want: []string{"simulator A without", "simulator B ready"}},
		"which is not known":   {url: inSimulator.URL(), booted: []string{"A", "B"}, want: []string{"phone  ready", "simulator A without", "simulator B without"}},
		"nothing responds":     {url: nowhere, booted: []string{"A"}, want: []string{"simulator A without"}},
		"started when it runs": {url: nowhere, start: "true", booted: []string{"A"}, want: []string{"simulator A ready"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSimctl(t, c.booted...)
			b := newTestBackend(t, map[string]string{"wdaUrl": c.url, "udid": c.udid, "wdaStart": c.start}, s.path())
			found, err := b.List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found {
				if f.State != device.Ready {
					f.State = map[string]string{"booted, without WebDriverAgent at " + c.url: "without"}[f.State]
				}
				got = append(got, fmt.Sprintf("%s %s %s", f.Type, f.ID, f.State))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("listed %q, want %q", got, c.want)
			}
		})
	}
}
