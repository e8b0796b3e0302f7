package app

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// The colours of screenshots, by their place in the palette.
const (
	black = iota
	white
	grey
	light
	blue
)

// Screenshot returns a PNG of the screen in pixels: elements as boxes with their texts. The secure screen is black, as
// where an app forbids screenshots.
func (d *Device) Screenshot() ([]byte, error) {
	windows := d.Look()
	scale := 3 / d.unit // pixels of a unit of the bounds
	palette := color.Palette{
		black: color.Black, white: color.White, grey: color.Gray{0x90}, light: color.Gray{0xe8}, blue: color.RGBA{0x20, 0x50, 0xc0, 0xff},
	}
	width, height := d.Size()
	p := painter{image.NewPaletted(image.Rect(0, 0, width*scale, height*scale), palette), scale}
	if d.Screen() != Secure && !d.Asleep() {
		for _, w := range windows {
			p.fill(w.Root.Bounds, w.Root.Bounds, white)
			p.element(w.Root, w.Root.Bounds)
		}
	}
	var encoded bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&encoded, p.image)
	return encoded.Bytes(), err
}

type painter struct {
	image *image.Paletted
	scale int
}

// element draws e and its children inside clip.
func (p painter) element(e *Element, clip screen.Rect) {
	clip = clip.Intersect(e.Bounds)
	if clip.Empty() {
		return
	}
	ink := uint8(black)
	switch e.Kind {
	case Button, ImageButton, Spinner:
		p.fill(e.Bounds, clip, blue)
		ink = white
	case Field, TextArea, Switch, KeyboardKey, Image, Web:
		p.fill(e.Bounds, clip, light)
	case Row, List, Dialog, Keyboard:
		p.frame(e.Bounds, clip)
	default:
	}
	s := e.Text
	switch {
	case s == "" && e.Hint != "":
		s, ink = e.Hint, grey
	case s == "" && (e.Kind == ImageButton || e.Kind == KeyboardKey || e.Kind == Image):
		s = e.Label
	case e.Password:
		s = string(bytes.Repeat([]byte{'*'}, len(e.Text)))
	}
	p.text(s, e.Bounds, clip, ink)
	for _, child := range e.Children {
		p.element(child, clip)
	}
}

func (p painter) fill(r, clip screen.Rect, c uint8) {
	r = r.Intersect(clip)
	area := image.Rect(r.Left*p.scale, r.Top*p.scale, r.Right*p.scale, r.Bottom*p.scale)
	draw.Draw(p.image, area, image.NewUniform(p.image.Palette[c]), image.Point{}, draw.Src)
}

func (p painter) frame(r, clip screen.Rect) {
	p.fill(r, clip, grey)
	thin := 3 / p.scale
	p.fill(screen.Rect{Left: r.Left + thin, Top: r.Top + thin, Right: r.Right - thin, Bottom: r.Bottom - thin}, clip, white)
}

// dot is the size of a dot of the font in pixels.
const dot = 5

// text draws s in one line in the middle of the height of r. Characters that the font lacks are boxes.
func (p painter) text(s string, r, clip screen.Rect, c uint8) {
	left, top := r.Left*p.scale+8, (r.Top+r.Bottom)*p.scale/2-4*dot
	limit := image.Rect(clip.Left*p.scale, clip.Top*p.scale, clip.Right*p.scale, clip.Bottom*p.scale)
	for i, char := range []rune(s) {
		for column := range 5 {
			bits := byte(0x7f)
			if char >= ' ' && char <= '~' {
				bits = font[int(char-' ')*5+column]
			}
			for row := range 8 {
				if bits>>row&1 == 0 {
					continue
				}
				at := image.Pt(left+(i*6+column)*dot, top+row*dot)
				pixels := image.Rectangle{at, at.Add(image.Pt(dot, dot))}.Intersect(limit)
				for y := pixels.Min.Y; y < pixels.Max.Y; y++ {
					for x := pixels.Min.X; x < pixels.Max.X; x++ {
						p.image.SetColorIndex(x, y, c)
					}
				}
			}
		}
	}
}
