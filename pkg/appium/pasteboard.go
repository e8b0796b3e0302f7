package appium

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/mobile"
)

// Pasteboard is the clipboard of a device of iOS. On a phone WebDriverAgent can use it only while the app in which it runs
// is in front. At other times, a text that is set is dropped without an error, and reading gives nothing.
type Pasteboard struct {
	Get func(ctx context.Context) (string, error)
	Set func(ctx context.Context, text string) error
	// Foreground returns the app in front, and Activate brings one to the front.
	Foreground func(ctx context.Context) (string, error)
	Activate   func(ctx context.Context, app string) error
	Runner     string // the app in which WebDriverAgent runs
	Phone      bool   // it is a phone, and not perhaps a simulator
}

// RunnerOf returns the app in which a WebDriverAgent runs that Xcode has built as a product, empty for the usual one.
func RunnerOf(product string) string {
	const suffix = ".xctrunner"
	return strings.TrimSuffix(cmp.Or(product, "com.facebook.WebDriverAgentRunner"), suffix) + suffix
}

// Read returns the text, empty for none.
func (p Pasteboard) Read(ctx context.Context) (text string, err error) {
	if !p.Phone {
		if text, err = p.Get(ctx); err == nil && text != "" || err != nil && !Answered(err) {
			return text, err
		}
	}
	err = p.inFront(ctx, func() error {
		text, err = p.Get(ctx)
		return err
	})
	return text, err
}

// Write replaces the text, and reads it back.
func (p Pasteboard) Write(ctx context.Context, text string) error {
	if !p.Phone && text != "" {
		if written, err := p.write(ctx, text); written || err != nil && !Answered(err) {
			return err
		}
	}
	return p.inFront(ctx, func() error {
		written, err := p.write(ctx, text)
		if err == nil && !written {
			err = p.unusable(nil)
		}
		return err
	})
}

// write sets the text and reports whether it is there then.
func (p Pasteboard) write(ctx context.Context, text string) (bool, error) {
	if err := p.Set(ctx, text); err != nil {
		return false, err
	}
	got, err := p.Get(ctx)
	return err == nil && got == text, err
}

// inFront brings the app of WebDriverAgent to the front for use, and then the one that was there before.
func (p Pasteboard) inFront(ctx context.Context, use func() error) error {
	before, err := p.Foreground(ctx)
	if err != nil {
		return err
	}
	if before == "" {
		return p.unusable(errors.New("which app is in front is not known"))
	}
	if err := p.Activate(ctx, p.Runner); err != nil {
		if Answered(err) {
			return p.unusable(err)
		}
		return err
	}
	return errors.Join(use(), p.Activate(context.WithoutCancel(ctx), before))
}

// unusable returns the error of a pasteboard that iOS does not let WebDriverAgent use.
func (p Pasteboard) unusable(cause error) error {
	reason := "iOS lets WebDriverAgent use the clipboard only in a simulator, or while its app " + p.Runner + " is in front"
	if cause != nil {
		reason += fmt.Sprintf(": %v", cause)
	}
	e := mobile.Unsupported(reason, "if WebDriverAgent was signed with another bundle id, give it: device: {ios: {wdaBundleId: …}}, or the "+
		"capability updatedWDABundleId; else use inputText")
	e.Cause = cause
	return e
}
