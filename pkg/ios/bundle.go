package ios

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// bundle returns the folder of an installed app of the simulator. An app of the system is not one.
func (s *simulator) bundle(ctx context.Context, app string) (string, error) {
	output, err := s.runOn(ctx, "get_app_container", app, "app")
	if err != nil {
		return "", err
	}
	folder := strings.TrimSpace(output)
	if !filepath.IsAbs(folder) || !strings.Contains(folder, s.udid) {
		return "", fault.New(fault.ProtocolError, "", "simctl get_app_container wrote %q in place of a folder of the simulator", folder)
	}
	return folder, nil
}

// clear removes what an app has stored. It removes the app and installs it anew: the system keeps settings in memory
// while the app is installed, so that deleting its files is not enough. What the keychain has stays unless the user wants
// that, because it is that of all apps.
func (s *simulator) clear(ctx context.Context, app string) (err error) {
	bundle, err := s.bundle(ctx, app)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp(device.Getenv(s.options.env, "TMPDIR"), "trailblaze-")
	if err != nil {
		return fault.Wrap(fault.IO, err, "", "create a temporary folder")
	}
	defer func() { _ = os.RemoveAll(folder) }()
	kept := filepath.Join(folder, filepath.Base(bundle))
	if err := os.CopyFS(kept, os.DirFS(bundle)); err != nil {
		return fault.Wrap(fault.IO, err, "", "copy the installed "+app)
	}
	if _, err := s.runOn(ctx, "uninstall", app); err != nil {
		return err
	}
	if _, err := s.runOn(context.WithoutCancel(ctx), "install", kept); err != nil {
		return fault.Wrap(fault.ToolFailed, err, "install it with Xcode or device: {app: …}", app+" was removed, and could not be installed again")
	}
	if s.options.clearKeychain {
		_, err = s.runOn(ctx, "keychain", "reset")
	}
	return err
}

// has reports whether an app that is installed is the one in a folder.
func (s *simulator) has(ctx context.Context, app, folder string) bool {
	bundle, err := s.bundle(ctx, app)
	if err != nil || filepath.Base(bundle) != filepath.Base(folder) {
		return false
	}
	installed, err := digest(bundle)
	if err != nil {
		return false
	}
	wanted, err := digest(folder)
	return err == nil && wanted == installed
}

// digest returns a hash of what is in a folder: names, what can be executed, links and contents.
func digest(folder string) (string, error) {
	hash := sha256.New()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(hash, "%q %v\n", name, info.Mode()&(fs.ModeType|0o100))
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			fmt.Fprintf(hash, "%q\n", target)
			return err
		case info.Mode().IsRegular():
			fmt.Fprintln(hash, info.Size())
			return copyTo(hash, path)
		}
		return nil
	})
	return string(hash.Sum(nil)), err
}

func copyTo(w io.Writer, path string) error {
	f, err := os.Open(path) //nolint:gosec // of a folder that the user named, or of the simulator
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
