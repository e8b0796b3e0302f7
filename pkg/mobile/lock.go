package mobile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
)

// LockedDevice is a device that no other process of the user uses until it is closed.
type LockedDevice struct {
	file *files.LockedFile
	path string
}

// lockedHere has the names of the devices that this process has locked, by the paths of their locks.
var lockedHere sync.Map //nolint:gochecknoglobals // locks are of the process

// Close lets others use the device.
func (d *LockedDevice) Close() error {
	lockedHere.Delete(d.path)
	return d.file.Close()
}

// Lock excludes other processes of the user, and other holders in this one, from a device. It does not wait. name is
// that of the device in messages, such as "the Android device emulator-5554"; other says how to use another one.
// Without a folder nothing is locked, and the result is nil.
func Lock(folder, id, name, other string) (*LockedDevice, error) {
	if folder == "" {
		return nil, nil //nolint:nilnil // without a folder nothing is locked
	}
	failed := func(err error) error {
		return fault.Wrap(fault.IO, err, "set TRAILBLAZE_CACHE_DIR to a folder that can be written", "lock "+name)
	}
	path := deviceFile(folder, id, ".lock")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, failed(err)
	}
	lock, err := files.Lock(path, false)
	holder, _ := lockedHere.Load(path)
	switch {
	case err == nil:
		lockedHere.Store(path, name)
		return &LockedDevice{lock, path}, nil
	case errors.Is(err, files.ErrLocked) && holder != nil && holder != name:
		return nil, fault.New(fault.Device, "name each device once; the other names are other connections to it, such as by network",
			"%s is the same device as %s, which is in use", name, holder)
	case errors.Is(err, files.ErrLocked):
		return nil, fault.New(fault.Device,
			"wait until that has ended, end the session that uses it (`trailblaze session list`), or "+other,
			"%s is used by another trailblaze", name)
	}
	return nil, failed(err)
}

// deviceFile returns the path of a file about a device.
func deviceFile(folder, id, extension string) string {
	sum := sha256.Sum256([]byte(id))
	return filepath.Join(folder, "phones", hex.EncodeToString(sum[:8])+extension)
}
