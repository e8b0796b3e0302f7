package picture_test

import (
	"context"
	"errors"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/picture"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// screens returns pictures one after another, and then the last one.
func screens(pictures ...*image.RGBA) func(context.Context) (*image.RGBA, error) {
	return func(context.Context) (*image.RGBA, error) {
		next := pictures[0]
		if len(pictures) > 1 {
			pictures = pictures[1:]
		}
		return next, nil
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	right, wrong, smaller := scene(1, 0), scene(2, 0), picture.Crop(scene(1, 0), image.Rect(0, 0, 50, 50))
	restless := func(context.Context) (*image.RGBA, error) { return scene(uint64(time.Now().UnixMilli()), 0), nil }
	slow := func(ctx context.Context) (*image.RGBA, error) { <-ctx.Done(); return right, nil }
	for name, tt := range map[string]struct {
		update   picture.Update
		baseline *image.RGBA
		take     func(context.Context) (*image.RGBA, error)
		ok       bool
		says     string
		attached []string
		written  *image.RGBA // nil for the baseline
	}{
		"as it was":                {"", right, screens(right), true, "the screen is as in cart.screens/total-web-linux.png", nil, nil},
		"after a while":            {"", right, screens(wrong, wrong, wrong, right), true, "is as in", nil, nil},
		"another":                  {"", right, screens(wrong), false, "pixels differ", []string{"expected", "actual", "difference"}, nil},
		"another size":             {"", right, screens(smaller), false, "it is 50×50 pixels, expected 97×61", []string{"expected", "actual"}, nil},
		"always another":           {"", right, restless, false, "did not stay the same for two pictures within 1s", []string{"screen"}, nil},
		"one picture":              {"", right, slow, false, "only one picture of the screen was taken within 1s", []string{"screen"}, nil},
		"missing":                  {"", nil, screens(right), false, "the picture cart.screens/total-web-linux.png does not exist", []string{"actual"}, nil},
		"none are written":         {picture.UpdateNone, nil, screens(right), false, "does not exist", []string{"actual"}, nil},
		"missing ones are written": {picture.UpdateMissing, nil, screens(wrong, right), true, "was written, and the screen was not compared", nil, right},
		"missing ones only":        {picture.UpdateMissing, right, screens(wrong), false, "pixels differ", []string{"expected", "actual", "difference"}, nil},
		"changed ones are written": {picture.UpdateChanged, right, screens(wrong), true, "was written", nil, wrong},
		"unchanged ones are not":   {picture.UpdateChanged, right, screens(right), true, "is as in", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := picture.Baselines{Dir: filepath.Join(t.TempDir(), "cart.screens"), Device: "web-linux", Update: tt.update}
			file := filepath.Join(b.Dir, "total-web-linux.png")
			if tt.baseline != nil {
				if err := errors.Join(os.Mkdir(b.Dir, 0o700), os.WriteFile(file, picture.EncodePNG(tt.baseline), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Test(t, func(t *testing.T) {
				got, err := b.Verify(t.Context(), picture.Check{
					Name: "total", Threshold: picture.DefaultThreshold, MaxDiffRatio: picture.DefaultMaxDiffRatio,
					Limit: time.Second, Pause: 100 * time.Millisecond, Take: tt.take,
				})
				if err != nil || got.OK != tt.ok || !strings.Contains(got.Text, tt.says) || got.OK == (got.Kind != "") {
					t.Errorf("%s %q, %v", got.Kind, got.Text, err)
				}
				if diff := cmp.Diff(tt.attached, names(got)); diff != "" {
					t.Errorf("pictures (-want +got):\n%s", diff)
				}
				if wrote := len(got.Notes) == 1; wrote != (tt.written != nil) {
					t.Errorf("notes %q", got.Notes)
				}
			})
			want := tt.baseline
			if tt.written != nil {
				want = tt.written
			}
			data, err := os.ReadFile(file)
			if want == nil && !os.IsNotExist(err) || want != nil && string(data) != string(picture.EncodePNG(want)) {
				t.Errorf("%d bytes in the file, %v", len(data), err)
			}
		})
	}
}

func names(r tool.Result) (names []string) {
	for _, a := range r.Attachments {
		names = append(names, a.Name)
	}
	return names
}

func TestVerifyNeedsATrailAndAPicture(t *testing.T) {
	t.Parallel()
	check := picture.Check{Name: "a", Limit: time.Second, Take: screens(scene(1, 0))}
	if _, err := (picture.Baselines{}).Verify(t.Context(), check); err == nil || !strings.Contains(err.Error(), "there is no trail") {
		t.Errorf("without a trail: %v", err)
	}
	b := picture.Baselines{Dir: t.TempDir(), Device: "web"}
	if err := os.WriteFile(filepath.Join(b.Dir, "a-web.png"), []byte("GIF89a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Verify(t.Context(), check); err == nil || !strings.Contains(err.Error(), "a-web.png: not a PNG") {
		t.Errorf("not a picture: %v", err)
	}
	broken := errors.New("no screen")
	check.Name, check.Take = "b", func(context.Context) (*image.RGBA, error) { return nil, broken }
	if _, err := b.Verify(t.Context(), check); !errors.Is(err, broken) {
		t.Errorf("no screenshot: %v", err)
	}
}

func TestNamesOfPictures(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{"cart": true, "Größe-2.b": true, "": false, "../cart": false, ".cart": false, "a/b": false, `a\b`: false} {
		if err := picture.CheckName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}
