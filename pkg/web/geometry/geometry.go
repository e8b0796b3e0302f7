// Package geometry converts places between the viewports of frames, that of the page, its window, and pictures of it.
// All places and sizes are in CSS pixels, from the top left corner, unless said otherwise.
package geometry

import (
	"image"
	"math"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// Plane maps a point of one viewport to another: x is a*x + c*y + e there, and y is b*x + d*y + f.
type Plane struct{ a, b, c, d, e, f float64 }

// Identity returns the plane that maps each point to itself.
func Identity() Plane { return Plane{a: 1, d: 1} }

// Apply maps a point.
func (m Plane) Apply(x, y float64) (float64, float64) {
	return m.a*x + m.c*y + m.e, m.b*x + m.d*y + m.f
}

// FollowedBy returns the plane that applies m and after it next.
func (m Plane) FollowedBy(next Plane) Plane {
	a, b := next.Apply(m.a, m.b)
	c, d := next.Apply(m.c, m.d)
	e, f := next.Apply(m.e, m.f)
	return Plane{a - next.e, b - next.f, c - next.e, d - next.f, e, f}
}

// Inverse returns the plane that undoes m. It is false when m maps all points to a line.
func (m Plane) Inverse() (Plane, bool) {
	det := m.a*m.d - m.b*m.c
	if det == 0 {
		return Plane{}, false
	}
	return Plane{
		m.d / det, -m.b / det, -m.c / det, m.a / det, (m.c*m.f - m.d*m.e) / det, (m.b*m.e - m.a*m.f) / det,
	}, true
}

// Stretch returns how many times as long a horizontal line is where m maps it to.
func (m Plane) Stretch() float64 { return math.Hypot(m.a, m.b) }

// Bounds returns the smallest upright rectangle, in whole pixels, around where m maps a box to.
func (m Plane) Bounds(b Box) screen.Rect {
	left, top := math.Inf(1), math.Inf(1)
	right, bottom := math.Inf(-1), math.Inf(-1)
	for _, corner := range [][2]float64{{0, 0}, {b.Width, 0}, {0, b.Height}, {b.Width, b.Height}} {
		x, y := m.Apply(b.X+corner[0], b.Y+corner[1])
		left, top, right, bottom = min(left, x), min(top, y), max(right, x), max(bottom, y)
	}
	whole := func(v float64) int { return int(math.Round(v)) }
	return screen.Rect{Left: whole(left), Top: whole(top), Right: whole(right), Bottom: whole(bottom)}
}

// Quad has x and y of the four corners of something that may be turned, clockwise from the top left one.
type Quad []float64

// IsValid reports whether the quad has all corners, as the other methods expect.
func (q Quad) IsValid() bool { return len(q) == 8 }

// Width returns the length of the top side.
func (q Quad) Width() float64 { return math.Hypot(q[2]-q[0], q[3]-q[1]) }

// Plane maps a viewport with a width and a height to the quad, zoom times as large, in which it is shown.
func (q Quad) Plane(width, height, zoom float64) Plane {
	across, down := zoom/width, zoom/height
	return Plane{
		(q[2] - q[0]) * across, (q[3] - q[1]) * across, (q[6] - q[0]) * down, (q[7] - q[1]) * down, q[0] * zoom, q[1] * zoom,
	}
}

// Box is an upright rectangle in a viewport.
type Box struct{ X, Y, Width, Height float64 }

// Scaled returns a box in the pixels of a picture that begins at -left and -top of the viewport.
func (b Box) Scaled(left, top, scale float64) image.Rectangle {
	at := func(v float64) int { return int(math.Round(v * scale)) }
	return image.Rect(at(b.X+left), at(b.Y+top), at(b.X+left+b.Width), at(b.Y+top+b.Height))
}

// Viewport is the size of the window and of the document, and how far it is scrolled. It can be read from what page.js
// returns, as JSON.
type Viewport struct {
	Width, Height, PageWidth, PageHeight, ScrollX, ScrollY float64
	// Of a page that is zoomed as on phones, the window shows what begins at OffsetX and OffsetY of the viewport, Scale
	// times as large. The size of the window is that of its picture, without PixelRatio.
	Scale, OffsetX, OffsetY, WindowWidth, WindowHeight float64
	PixelRatio                                         float64 // pixels of a picture for one of the window
}

// Plane maps a point of the viewport of the page to its window, which may show a part of it larger.
func (v Viewport) Plane() Plane {
	return Plane{a: v.Scale, d: v.Scale, e: -v.OffsetX * v.Scale, f: -v.OffsetY * v.Scale}
}
