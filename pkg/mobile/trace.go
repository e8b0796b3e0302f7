package mobile

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// tracedBytes is the maximum size in bytes of the elements of a screen in a trace.
const tracedBytes = 128 << 10

// StartTrace implements device.Tracer.
func (d *phone) StartTrace(o device.TraceOptions) { d.trace = &o }

// Moment implements device.Tracer. A phone does not send pictures by itself, and to take one takes longer than most
// calls, so that only whole moments have one.
func (d *phone) Moment(ctx context.Context, whole bool) device.Moment {
	driver := d.currentDriver()
	if driver == nil {
		return device.Moment{NoPicture: "the device was not connected"}
	}
	m := device.Moment{Touched: driver.touched.Swap(nil)}
	m.Width, m.Height = d.Size()
	if !whole {
		m.NoPicture = "a screenshot would have taken longer than the call"
		return m
	}
	before, err := d.momentTree(ctx, driver, &m)
	switch {
	case err != nil && d.trace != nil && d.trace.Secrets:
		m.NoPicture = "whether the screen shows a secret could not be checked: " + err.Error()
		return m
	case before:
		m.NoPicture = "the screen shows a secret"
		return m
	}
	data, withheld, err := d.safeScreenshot(ctx, driver)
	switch {
	case withheld != "":
		m.NoPicture = withheld
		return m
	case err != nil:
		m.NoPicture = "no screenshot: " + err.Error()
		return m
	}
	if d.trace != nil && d.trace.Secrets {
		if after, err := d.momentTree(ctx, driver, &m); after || err != nil {
			m.NoPicture = "the screen may show a secret"
			return m
		}
	}
	m.Picture = &device.Picture{Data: data, Ext: ".png"}
	return m
}

// momentTree fills in the title and the elements, and reports whether the screen shows a secret.
func (d *phone) momentTree(ctx context.Context, driver *serial, m *device.Moment) (secret bool, err error) {
	now, err := driver.Read(ctx)
	if err != nil {
		return false, err
	}
	m.Title = d.titleOf(ctx, driver)
	m.Tree = now.Tree.Text(screen.TextOptions{MaxBytes: tracedBytes, Ref: d.numberReferences(now.Tree)}).String()
	if redact := d.session.Redact; redact != nil && d.trace != nil && d.trace.Secrets {
		text := now.Tree.Text(screen.TextOptions{Whole: true}).String()
		secret = redact(text) != text
	}
	return secret, nil
}
