package mobile

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/mobile/devicelog"
)

// Evidence implements device.Device. Parts that a device which does not respond cannot provide are left out.
func (d *phone) Evidence(ctx context.Context) []device.Artifact {
	driver := d.currentDriver()
	if driver == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.limits.Evidence)
	defer cancel()
	about := fmt.Sprintf("Device: %s\n", driver.Info().Product)
	if front, err := driver.Foreground(ctx); err == nil && front != "" {
		about += fmt.Sprintf("App in front: %s\n", front)
	}
	if does := driver.lock(ctx); does != "" {
		about += fmt.Sprintf("The device %s.\n", does)
	}
	data, withheld, err := d.safeScreenshot(ctx, driver)
	switch {
	case withheld != "":
		about += fmt.Sprintf("No screenshot: %s\n", withheld)
	case err != nil:
		about += fmt.Sprintf("No screenshot: %v\n", err)
	case isBlack(data):
		about += "The screenshot is black: " + whyBlack + ".\n"
	}
	parts := []device.Artifact{{}, {Name: "screenshot.png", Title: "the screen", Data: data}, {}, {}, {}}
	if now, err := driver.Read(ctx); err == nil {
		parts[2] = device.Artifact{
			Name: "screen.txt", Title: "what is on the screen", Data: []byte(d.textOf(now, keptBytes)), Text: true,
		}
		if showsNothing(now.Tree) {
			about += "The app shows nothing to accessibility here.\n"
		}
	} else {
		about += fmt.Sprintf("No list of elements: %v\n", err)
	}
	var aboutLog string
	parts[3], aboutLog = d.logEvidence(ctx, driver)
	about += aboutLog
	var aboutVideo string
	parts[4], aboutVideo = d.recordingEvidence(ctx, driver)
	about += aboutVideo
	parts[0] = device.Artifact{Name: "device.txt", Title: "the device and the app in front", Data: []byte(about), Text: true}
	return slices.DeleteFunc(parts, func(a device.Artifact) bool { return len(a.Data) == 0 })
}

// logEvidence returns the log of the app, without data if it was not read, and what is said about it: crashes, and the
// reason for which it is missing.
func (d *phone) logEvidence(ctx context.Context, driver *serial) (device.Artifact, string) {
	log, err := d.readLog(ctx, driver, false)
	var about strings.Builder
	for _, crash := range log.Crashes {
		about.WriteString(crash.String() + "\n")
	}
	switch {
	case err != nil:
		fmt.Fprintf(&about, "No log of the app: %v\n", err)
	case log.Missing != "":
		fmt.Fprintf(&about, "No log of the app: %s\n", log.Missing)
	}
	text := devicelog.Text(log.Lines, maxLog)
	return device.Artifact{Name: "device.log", Title: "the log of the app", Data: []byte(text), Text: true}, about.String()
}

// whyBlack is why a screenshot is black.
const whyBlack = "the screen is off, or the app forbids screenshots of it"

// maxBlack is the size in bytes of the largest PNG that may be black: one of a single colour is small.
const maxBlack = 64 << 10

// maxPixels is the number of pixels of the largest picture that is decoded: more than any screen has.
const maxPixels = 64 << 20

// sampled is the number of pixels in a row and in a column of a picture that are looked at.
const sampled = 48

// isBlack reports whether a picture is black, as that of a screen that may not be pictured.
func isBlack(data []byte) bool {
	if len(data) > maxBlack {
		return false
	}
	// What a PNG takes when it is decoded is in its header, and not bounded by its length.
	header, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil || header.Width > maxPixels/max(header.Height, 1) {
		return false
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return false
	}
	bounds := picture.Bounds()
	for row := range sampled {
		for column := range sampled {
			x := bounds.Min.X + bounds.Dx()*column/sampled
			y := bounds.Min.Y + bounds.Dy()*row/sampled
			if r, g, b, _ := picture.At(x, y).RGBA(); r|g|b != 0 {
				return false
			}
		}
	}
	return true
}
