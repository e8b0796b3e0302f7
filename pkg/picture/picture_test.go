package picture_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/picture"
)

// scene draws smooth discs and a slanted line at places that shift moves by parts of a pixel.
func scene(seed uint64, shift float64) *image.RGBA {
	p := image.NewRGBA(image.Rect(0, 0, 97, 61))
	random := rand.New(rand.NewPCG(seed, 1))
	type disc struct {
		x, y, r float64
		color   [3]float64
	}
	var discs []disc
	for range 6 {
		discs = append(discs, disc{
			random.Float64() * 97, random.Float64() * 61, 3 + 12*random.Float64(),
			[3]float64{255 * random.Float64(), 255 * random.Float64(), 255 * random.Float64()},
		})
	}
	for y := range 61 {
		for x := range 97 {
			c := [3]float64{250, 250, 250}
			for _, d := range discs {
				covered := max(0, min(1, d.r-math.Hypot(float64(x)-d.x-shift, float64(y)-d.y)+0.5))
				for i := range c {
					c[i] += (d.color[i] - c[i]) * covered
				}
			}
			if x%31 == 7 && shift > 0 {
				c[0] = min(255, c[0]+9) // less than a person sees
			}
			p.SetRGBA(x, y, color.RGBA{uint8(c[0]), uint8(c[1]), uint8(c[2]), 255})
		}
	}
	return p
}

// pixelmatch is the library that Playwright compares screenshots with.
func TestPixelsDifferAsForPixelmatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script, err := filepath.Abs("../../testdata/web/playwright/pixels.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for _, threshold := range []float64{0, 0.05, 0.2, 1} {
		args := []string{script, strconv.FormatFloat(threshold, 'g', -1, 64)}
		var got []string
		for seed := range uint64(12) {
			a, b := scene(seed, 0), scene(seed, float64(seed)/4)
			for i, p := range []*image.RGBA{a, b} {
				name := filepath.Join(dir, strconv.Itoa(int(2*seed)+i)+".png")
				if err := os.WriteFile(name, picture.EncodePNG(p), 0o600); err != nil {
					t.Fatal(err)
				}
				args = append(args, name)
			}
			got = append(got, strconv.Itoa(picture.Compare(a, b, threshold).Different))
		}
		out, err := exec.CommandContext(t.Context(), "node", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if want := strings.Fields(string(out)); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("threshold %v: %v pixels differ, for pixelmatch %v", threshold, got, want)
		}
	}
}

func TestDifferenceShowsWhatDiffers(t *testing.T) {
	t.Parallel()
	a := image.NewRGBA(image.Rect(0, 0, 20, 20))
	picture.Mask(a, []image.Rectangle{a.Rect})
	b := image.NewRGBA(a.Rect)
	copy(b.Pix, a.Pix)
	for y := range 4 {
		b.SetRGBA(10, 8+y, color.RGBA{A: 255})
	}
	got := picture.Compare(a, b, picture.DefaultThreshold)
	if red := (color.RGBA{255, 0, 0, 255}); got.Different != 4 || got.Ratio() != 0.01 || got.Diff.RGBAAt(10, 9) != red || got.Diff.RGBAAt(9, 9) == red {
		t.Errorf("%d pixels, %v, %v", got.Different, got.Ratio(), got.Diff.RGBAAt(10, 9))
	}
}

// A header can promise any number of pixels.
func TestPictureThatIsTooLargeIsNotDecoded(t *testing.T) {
	t.Parallel()
	header := picture.EncodePNG(image.NewRGBA(image.Rect(0, 0, 1, 1)))
	binary.BigEndian.PutUint32(header[16:], 200_000)
	binary.BigEndian.PutUint32(header[20:], 200_000)
	binary.BigEndian.PutUint32(header[29:], crc32.ChecksumIEEE(header[12:29]))
	if _, err := picture.DecodePNG(header); err == nil || !strings.Contains(err.Error(), "200000×200000 pixels are more than") {
		t.Errorf("error %v", err)
	}
	if _, err := picture.DecodePNG([]byte("GIF89a")); err == nil {
		t.Error("a GIF was read")
	}
}

func TestCropAndMask(t *testing.T) {
	t.Parallel()
	p := scene(1, 0)
	part := picture.Crop(p, image.Rect(90, 50, 200, 200))
	if part.Rect != image.Rect(0, 0, 7, 11) || part.RGBAAt(0, 0) != p.RGBAAt(90, 50) {
		t.Errorf("%v", part.Rect)
	}
	picture.Mask(p, []image.Rectangle{image.Rect(0, 0, 2, 2)})
	if p.RGBAAt(1, 1) != (color.RGBA{255, 0, 255, 255}) {
		t.Errorf("%v", p.RGBAAt(1, 1))
	}
	read, err := picture.DecodePNG(picture.EncodePNG(p))
	if err != nil || !bytes.Equal(read.Pix, p.Pix) {
		t.Errorf("what was written is not what is read: %v", err)
	}
}
