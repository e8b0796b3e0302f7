package agent

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
)

// maxSide is the longer side of a picture that is sent, in pixels.
const maxSide = 1280

// takePicture takes a picture for the next request. why says why there is none.
func (r *run) takePicture(ctx context.Context) (why string, err error) {
	if !r.agent.opts.Images {
		return "pictures are not sent to this model", nil
	}
	seen, err := r.session.Look(ctx, true)
	switch {
	case err != nil:
		return "", err
	case seen.Withheld != "":
		return "the picture is withheld: " + seen.Withheld, nil
	}
	r.picture = smaller(seen.Screenshot)
	return "", nil
}

// smaller returns a PNG whose longer side has at most maxSide pixels; nil for one that cannot be read.
func smaller(data []byte) []byte {
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	size := picture.Bounds().Size()
	long := max(size.X, size.Y)
	if long <= maxSide {
		return data
	}
	out := image.NewRGBA(image.Rect(0, 0, max(1, size.X*maxSide/long), max(1, size.Y*maxSide/long)))
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			out.Set(x, y, average(picture, image.Rect(x*long/maxSide, y*long/maxSide, (x+1)*long/maxSide, (y+1)*long/maxSide)))
		}
	}
	var b bytes.Buffer
	if png.Encode(&b, out) != nil { // not reached: its size is valid
		return nil
	}
	return b.Bytes()
}

// average returns the mean colour of a part of a picture, which is relative to its origin.
func average(p image.Image, part image.Rectangle) color.Color {
	part = part.Add(p.Bounds().Min).Intersect(p.Bounds())
	var r, g, b, n uint32
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			pr, pg, pb, _ := p.At(x, y).RGBA()
			r, g, b, n = r+pr>>8, g+pg>>8, b+pb>>8, n+1
		}
	}
	n = max(n, 1)
	return color.RGBA{uint8(r / n), uint8(g / n), uint8(b / n), 255} //nolint:gosec // each is below 256
}
