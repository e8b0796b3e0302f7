// Package picture reads, crops and compares screenshots.
package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"
)

// MaxPixels is the number of pixels of the largest picture that is read. A page of 1280 pixels may be 39,000 high.
const MaxPixels = 50_000_000

// DecodePNG decodes a PNG as an opaque picture at the origin. A picture that is too large is not decoded.
func DecodePNG(data []byte) (*image.RGBA, error) {
	header, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("not a PNG: %w", err)
	}
	if int64(header.Width)*int64(header.Height) > MaxPixels {
		return nil, fmt.Errorf("%d×%d pixels are more than %d", header.Width, header.Height, MaxPixels)
	}
	decoded, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("not a PNG: %w", err)
	}
	size := decoded.Bounds().Size()
	opaque := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(opaque, opaque.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(opaque, opaque.Bounds(), decoded, decoded.Bounds().Min, draw.Over)
	return opaque, nil
}

// EncodePNG encodes a picture.
func EncodePNG(p image.Image) []byte {
	var out bytes.Buffer
	_ = png.Encode(&out, p) // a buffer takes everything, and no picture is too large
	return out.Bytes()
}

// Crop returns a part of a picture, at the origin. It is empty when the part is outside.
func Crop(p *image.RGBA, part image.Rectangle) *image.RGBA {
	part = part.Intersect(p.Bounds())
	out := image.NewRGBA(image.Rectangle{Max: part.Size()})
	draw.Draw(out, out.Bounds(), p, part.Min, draw.Src)
	return out
}

// Mask paints parts of a picture, so that they do not differ.
func Mask(p *image.RGBA, parts []image.Rectangle) {
	for _, part := range parts {
		draw.Draw(p, part, image.NewUniform(color.RGBA{255, 0, 255, 255}), image.Point{}, draw.Src)
	}
}

// IsBlack reports whether a picture is black beside some parts of it.
func IsBlack(p *image.RGBA, beside []image.Rectangle) bool {
	for y := p.Rect.Min.Y; y < p.Rect.Max.Y; y++ {
		for x := p.Rect.Min.X; x < p.Rect.Max.X; x++ {
			inside := func(part image.Rectangle) bool { return image.Pt(x, y).In(part) }
			if p.RGBAAt(x, y) != (color.RGBA{A: 255}) && !slices.ContainsFunc(beside, inside) {
				return false
			}
		}
	}
	return true
}
