package app

import (
	"math"
	"time"
)

// stopped is how long a finger has to be still for its list to stay where it is: ASSUME_POINTER_STOPPED_TIME of
// Android's VelocityTracker.cpp. For UIScrollView no source says it; 100 ms is on the safe side.
func (d *Device) stopped() time.Duration {
	if d.platform == IOS {
		return 100 * time.Millisecond
	}
	return 40 * time.Millisecond
}

// slop is how far a finger has to move before a list follows it, in units of the layout: TOUCH_SLOP of Android's
// ViewConfiguration.java, by which RecyclerView, ScrollView and Compose move less than the finger. On iOS it is about 10.
const slop = 8

// beyondSlop returns how far a list moves with a finger that has moved by dy.
func (d *Device) beyondSlop(dy int) int {
	return max(0, dy-slop*d.unit) + min(0, dy+slop*d.unit)
}

// flingOf returns how far a list moves on by itself after a finger was lifted from it, down if that is positive.
func (d *Device) flingOf(f Finger) int {
	if f.Last == 0 || f.Rest >= d.stopped() {
		return 0
	}
	end, before := f.Path[len(f.Path)-1], f.Path[max(0, len(f.Path)-2)]
	speed := float64(end.Y-before.Y) / f.Last.Seconds()
	if math.Abs(speed) < minFling*float64(d.unit) {
		return 0
	}
	return int(math.Copysign(d.flingDistance(math.Abs(speed)), speed))
}

// minFling is the speed of the slowest fling, in units of the layout in a second: MINIMUM_FLING_VELOCITY of Android's
// ViewConfiguration.java.
const minFling = 50

// flingDistance returns how far a list moves that a finger has left with a speed, in the unit of the bounds: on Android
// as getSplineFlingDistance of OverScroller.java, on iOS with the deceleration rate normal, 0.998 of the speed in each
// millisecond.
func (d *Device) flingDistance(speed float64) float64 {
	if d.platform == IOS {
		const rate = 0.998
		return speed / 1000 * rate / (1 - rate)
	}
	const (
		inflexion = 0.35
		friction  = 0.015
		gravity   = 9.80665 * 39.37 * 0.84 // in inches, with the "look and feel tuning" of OverScroller
	)
	deceleration := math.Log(0.78) / math.Log(0.9)
	physical := friction * gravity * 160 * float64(d.unit)
	spline := math.Log(inflexion * speed / physical)
	return physical * math.Exp(deceleration/(deceleration-1)*spline)
}

// flingOn moves the list by a part of what is left of its fling, as time does on a real phone, until the list ends.
func (d *Device) flingOn() {
	step := d.ui.fling / 2
	if abs(step) < 4*d.unit {
		step = d.ui.fling
	}
	before := d.ui.scrolled
	d.scrollBy(step)
	if d.ui.fling -= step; d.ui.scrolled != before-step {
		d.ui.fling = 0
	}
}

// Settle lets a list that moves on by itself come to rest, as it does while somebody waits for it.
func (d *Device) Settle() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.scrollBy(d.ui.fling)
	d.ui.fling = 0
}
