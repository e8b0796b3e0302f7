package mobile

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
)

// Originals are what a session has changed on a device, as it was before. With a file they outlive the process, so that
// a later session can put them back.
type Originals struct {
	path   string // empty for no file
	values []Original
}

// Original is a value that a device had.
type Original struct{ Name, Value string }

// NewOriginals returns those that an earlier session on the device id has left. Without a folder nothing is kept in a
// file.
func NewOriginals(folder, id string) (*Originals, error) {
	o := &Originals{}
	if folder == "" {
		return o, nil
	}
	o.path = deviceFile(folder, id, ".changes.json")
	data, err := os.ReadFile(o.path)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return nil, fault.Wrap(fault.IO, err, "", "read what has to be put back on the device")
	}
	if json.Unmarshal(data, &o.values) != nil {
		o.values = nil // a file that was cut short has nothing that can be put back
	}
	return o, nil
}

// Keep notes the value that something has before it is changed. Only the first value of a name counts.
func (o *Originals) Keep(name, value string) error {
	if slices.ContainsFunc(o.values, func(v Original) bool { return v.Name == name }) {
		return nil
	}
	o.values = append(o.values, Original{name, value})
	return o.save()
}

// Change is Keep, and then the change. One that the device refuses has nothing to be put back, unless one before was made.
func (o *Originals) Change(name, value string, change func() error, refused func(error) bool) error {
	before := len(o.values)
	if err := o.Keep(name, value); err != nil {
		return err
	}
	err := change()
	if err != nil && refused(err) && len(o.values) > before {
		o.values = o.values[:before]
		return errors.Join(err, o.save())
	}
	return err
}

// Replace is Keep of what read returns, and then the change. It returns what read returns afterwards.
func (o *Originals) Replace(name string, read func() (string, error), change func() error) (now string, err error) {
	before, err := read()
	if err == nil {
		err = o.Keep(name, before)
	}
	if err == nil {
		err = change()
	}
	if err != nil {
		return "", err
	}
	return read()
}

// PutBack gives everything its value, the last change first. What fails is tried again by a later PutBack.
func (o *Originals) PutBack(ctx context.Context, apply func(context.Context, Original) error) error {
	if len(o.values) == 0 {
		return nil
	}
	var left []Original
	var errs []error
	for _, v := range slices.Backward(o.values) {
		if err := apply(ctx, v); err != nil {
			left, errs = append([]Original{v}, left...), append(errs, err)
		}
	}
	o.values = left
	return errors.Join(append(errs, o.save())...)
}

func (o *Originals) save() error {
	if o.path == "" {
		return nil
	}
	if len(o.values) == 0 {
		return os.Remove(o.path)
	}
	err := files.Replace(o.path, func(f *os.File) error { return json.NewEncoder(f).Encode(o.values) })
	if err != nil {
		return fault.Wrap(fault.IO, err, "set TRAILBLAZE_CACHE_DIR to a folder that can be written",
			"note what has to be put back on the device")
	}
	return nil
}
