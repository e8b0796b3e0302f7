package mobile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
)

// LockedDevice is a device that no other process of the user uses until it is closed.
type LockedDevice = files.LockedFile

// Lock excludes other processes of the user, and other holders in this one, from a device. It does not wait. name is
// that of the device in messages, such as "the Android device emulator-5554"; other says how to use another one.
// Without a folder nothing is locked, and the result is nil.
func Lock(folder, id, name, other string) (*LockedDevice, error) {
	if folder == "" {
		return nil, nil //nolint:nilnil // without a folder nothing is locked
	}
	folder = filepath.Join(folder, "phones")
	failed := func(err error) error {
		return fault.Wrap(fault.Server, err, "set TRAILBLAZE_CACHE_DIR to a folder that can be written", "lock "+name)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, failed(err)
	}
	sum := sha256.Sum256([]byte(id))
	lock, err := files.Lock(filepath.Join(folder, hex.EncodeToString(sum[:8])+".lock"), false)
	if errors.Is(err, files.ErrLocked) {
		return nil, fault.New(fault.Server,
			"wait until that has ended, end the session that uses it (`trailblaze session list`), or "+other,
			"%s is used by another trailblaze", name)
	}
	if err != nil {
		return nil, failed(err)
	}
	return lock, nil
}
