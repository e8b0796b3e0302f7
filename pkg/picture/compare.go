package picture

import (
	"image"
	"image/color"
	"math"
)

// maxDelta is the difference between black and white in the metric of colorDelta.
const maxDelta = 35215

// Comparison is what differs between two pictures of the same size.
type Comparison struct {
	Different int         // pixels that differ
	Pixels    int         // of each picture
	Diff      *image.RGBA // the first picture in grey; pixels that differ are red, those of smoothed edges yellow
}

// Ratio returns the part of the pixels that differ, from 0 to 1.
func (c Comparison) Ratio() float64 { return float64(c.Different) / float64(max(1, c.Pixels)) }

// Compare compares two pictures of the same size, whose pixels are opaque. A pixel differs when its colour, as people
// perceive it, is further apart than threshold, from 0 (any difference) to 1 (none), unless it belongs to an edge that
// one of them has smoothed. It is the algorithm of pixelmatch, which Playwright uses: YIQ colours after Kotsarenko and
// Ramos (2010), anti-aliasing after Vyšniauskas (2009).
func Compare(a, b *image.RGBA, threshold float64) Comparison {
	size := a.Bounds().Size()
	c := Comparison{Pixels: size.X * size.Y, Diff: image.NewRGBA(image.Rectangle{Max: size})}
	limit := maxDelta * threshold * threshold
	first, second := pixels{a.Pix, a.Stride, size}, pixels{b.Pix, b.Stride, size}
	for y := range size.Y {
		for x := range size.X {
			p, q := first.pixelAt(x, y), second.pixelAt(x, y)
			switch {
			case p == q || colorDelta(p, q) <= limit:
				grey := uint8(255 + (p.brightness()-255)/10)
				c.Diff.SetRGBA(x, y, color.RGBA{grey, grey, grey, 255})
			case first.isSmoothed(x, y, second) || second.isSmoothed(x, y, first):
				c.Diff.SetRGBA(x, y, color.RGBA{255, 255, 0, 255})
			default:
				c.Diff.SetRGBA(x, y, color.RGBA{255, 0, 0, 255})
				c.Different++
			}
		}
	}
	return c
}

// pixel is an opaque colour.
type pixel [3]uint8

func (p pixel) brightness() float64 {
	return float64(p[0])*0.29889531 + float64(p[1])*0.58662247 + float64(p[2])*0.11448223
}

// colorDelta returns the squared distance of two colours.
func colorDelta(p, q pixel) float64 {
	r, g, b := float64(p[0])-float64(q[0]), float64(p[1])-float64(q[1]), float64(p[2])-float64(q[2])
	y := r*0.29889531 + g*0.58662247 + b*0.11448223
	i := r*0.59597799 - g*0.27417610 - b*0.32180189
	q2 := r*0.21147017 - g*0.52261711 + b*0.31114694
	return 0.5053*y*y + 0.299*i*i + 0.1957*q2*q2
}

type pixels struct {
	data   []uint8 // RGBA
	stride int
	size   image.Point
}

func (p pixels) pixelAt(x, y int) pixel {
	i := y*p.stride + 4*x
	return pixel(p.data[i : i+3])
}

// isSmoothed reports whether a pixel is likely a part of an edge that was smoothed: it has darker and brighter
// neighbours, at most two like itself, and its darkest or brightest neighbour is part of an area in both pictures.
func (p pixels) isSmoothed(x, y int, other pixels) bool {
	centre := p.pixelAt(x, y).brightness()
	var darkest, brightest image.Point
	low, high := 0.0, 0.0
	equal := p.missingNeighbours(x, y)
	for n := range p.neighbours(x, y) {
		switch delta := centre - p.pixelAt(n.X, n.Y).brightness(); {
		case math.Abs(delta) < 1e-9:
			equal++
		case delta < low:
			low, darkest = delta, n
		case delta > high:
			high, brightest = delta, n
		}
	}
	if equal > 2 || low == 0 || high == 0 {
		return false
	}
	return p.isInArea(darkest) && other.isInArea(darkest) || p.isInArea(brightest) && other.isInArea(brightest)
}

// isInArea reports whether a pixel has at least three neighbours of its colour.
func (p pixels) isInArea(at image.Point) bool {
	equal := p.missingNeighbours(at.X, at.Y)
	for n := range p.neighbours(at.X, at.Y) {
		if p.pixelAt(n.X, n.Y) == p.pixelAt(at.X, at.Y) {
			equal++
		}
	}
	return equal > 2
}

// missingNeighbours returns 1 for a pixel at the border, whose missing neighbours count as one that is equal.
func (p pixels) missingNeighbours(x, y int) int {
	if x == 0 || y == 0 || x == p.size.X-1 || y == p.size.Y-1 {
		return 1
	}
	return 0
}

// neighbours yields the up to eight pixels around one, by columns.
func (p pixels) neighbours(x, y int) func(yield func(image.Point) bool) {
	return func(yield func(image.Point) bool) {
		for nx := max(x-1, 0); nx <= min(x+1, p.size.X-1); nx++ {
			for ny := max(y-1, 0); ny <= min(y+1, p.size.Y-1); ny++ {
				if (nx != x || ny != y) && !yield(image.Pt(nx, ny)) {
					return
				}
			}
		}
	}
}
