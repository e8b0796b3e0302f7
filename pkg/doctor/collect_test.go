package doctor

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
)

func TestArchiveOfADevice(t *testing.T) {
	t.Parallel()
	c := Collected{
		Collection: device.Collection{
			Product: "Pixel 7, Android 14", Replace: map[string]string{"R5CT": "X0XX", "R5CT99": "X0XX00"},
			Answers: []device.CollectedAnswer{
				{File: "devices.txt", Question: "host:devices-l", Data: []byte("R5CT99 device\nR5CT offline; token s3cret"), Took: 12 * time.Millisecond},
				{File: "source.xml", Question: "GET /source", Err: errors.New("R5CT99 does not respond")},
			},
		},
		Kind: "android", Version: "1.2.3", Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Redact: func(text string) string { return strings.ReplaceAll(text, "s3cret", "{{TOKEN}}") },
	}
	var b bytes.Buffer
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		got[f.Name] = string(data)
	}
	if len(got) != 3 || got["devices.txt"] != "X0XX00 device\nX0XX offline; token {{TOKEN}}" {
		t.Errorf("%q", got)
	}
	for file, texts := range map[string][]string{
		"README.txt":   {"Pixel 7, Android 14 (android)", "2026-03-01", "1.2.3", "were replaced", "devices.txt", "in 12 ms", "no answer, see answers.json"},
		"answers.json": {`"millis": 12`, `"error": "X0XX00 does not respond"`},
	} {
		for _, text := range texts {
			if !strings.Contains(got[file], text) {
				t.Errorf("%s has no %q:\n%s", file, text, got[file])
			}
		}
	}
}
