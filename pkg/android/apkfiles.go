package android

import (
	"archive/zip"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// apk is an app to install: the user's app under test, or a part of the UiAutomator2 server.
type apk struct {
	path     string // of an APK, a folder of APKs, or an archive of them
	manifest        // of the base
	files    []apkFile
	hash     string
	checked  bool // the phone has it
}

// apkFile is one APK.
type apkFile struct {
	name string
	open func() (io.ReadCloser, error)
}

// readAPK reads the app that the user names: an APK, a folder of APKs, or an archive of them, such as the .apks of
// bundletool.
func readAPK(name string) (*apk, error) {
	const hint = "name an APK, a folder with the APKs of one app, or an .apks of bundletool"
	files, err := apkFiles(name)
	if err == nil && len(files) == 0 {
		err = errors.New("it contains no APK")
	}
	if err != nil {
		return nil, fault.Wrap(fault.Misuse, err, hint, "app: "+name+" is not an APK")
	}
	a := &apk{path: name, files: files}
	sum := sha256.New()
	var bases []string
	for _, file := range files {
		m, err := file.read(sum)
		if err != nil {
			return nil, fault.Wrap(fault.Misuse, err, hint, "app: "+file.name+" is not an APK")
		}
		if m.Package != cmp.Or(a.Package, m.Package) {
			return nil, fault.New(fault.Misuse, hint, "app: %s has APKs of %s and of %s",
				name, a.Package, m.Package)
		}
		a.Package = m.Package
		if m.Split == "" {
			a.manifest = m
			bases = append(bases, filepath.Base(file.name))
		}
	}
	if len(bases) != 1 {
		return nil, fault.New(fault.Misuse, "bundletool build-apks makes one for a phone with --connected-device, and one for "+
			"all with --mode=universal", "app: %s has %d APKs that are not splits (%s); expected 1", name, len(bases), strings.Join(bases, ", "))
	}
	a.hash = hex.EncodeToString(sum.Sum(nil))
	return a, nil
}

// apkFiles returns the APKs that are meant by a path.
func apkFiles(name string) ([]apkFile, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		entries, err := os.ReadDir(name)
		var files []apkFile
		for _, e := range entries {
			if filepath.Ext(e.Name()) == ".apk" {
				files = append(files, plainAPK(filepath.Join(name, e.Name())))
			}
		}
		return files, err
	}
	archive, err := zip.OpenReader(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = archive.Close() }()
	inside := insideArchive(&archive.Reader)
	if len(inside) == 0 {
		return []apkFile{plainAPK(name)}, nil
	}
	files := make([]apkFile, len(inside))
	for i, entry := range inside {
		files[i] = apkFile{name: name + "/" + entry, open: func() (io.ReadCloser, error) { return openEntry(name, entry) }}
	}
	return files, nil
}

func plainAPK(name string) apkFile {
	return apkFile{name: name, open: func() (io.ReadCloser, error) { return os.Open(name) }}
}

// insideArchive returns the APKs in an archive that is not an APK itself: without those that bundletool adds for phones
// before Android 5, for instant apps and for asset packs, and only the universal one if there is one.
func insideArchive(archive *zip.Reader) []string {
	var names []string
	for _, f := range archive.File {
		folder, _, _ := strings.Cut(f.Name, "/")
		switch {
		case f.Name == "AndroidManifest.xml":
			return nil
		case path.Base(f.Name) == "universal.apk":
			return []string{f.Name}
		case path.Ext(f.Name) == ".apk" && !slices.Contains([]string{"standalones", "instant", "asset-slices"}, folder):
			names = append(names, f.Name)
		}
	}
	return names
}

// openEntry opens a file of an archive, which is closed with it.
func openEntry(name, entry string) (io.ReadCloser, error) {
	archive, err := zip.OpenReader(name)
	if err != nil {
		return nil, err
	}
	file, err := archive.Open(entry)
	if err != nil {
		_ = archive.Close()
		return nil, err
	}
	return entryOf{file, archive}, nil
}

// entryOf is a file of an archive.
type entryOf struct {
	io.ReadCloser
	archive io.Closer
}

// Close implements io.Closer.
func (e entryOf) Close() error { return errors.Join(e.ReadCloser.Close(), e.archive.Close()) }

// read returns the manifest of an APK, and writes the APK to sum.
func (f apkFile) read(sum io.Writer) (manifest, error) {
	content, err := f.open()
	if err != nil {
		return manifest{}, err
	}
	defer func() { _ = content.Close() }()
	plain, isFile := content.(*os.File)
	if !isFile { // an APK in an archive is read at any place, too
		if plain, err = os.CreateTemp("", "trailblaze-*.apk"); err != nil {
			return manifest{}, err
		}
		defer func() { _, _ = plain.Close(), os.Remove(plain.Name()) }()
		if _, err := io.Copy(plain, content); err != nil {
			return manifest{}, err
		}
	}
	size, err := plain.Seek(0, io.SeekEnd)
	if err != nil {
		return manifest{}, err
	}
	if _, err := io.Copy(sum, io.NewSectionReader(plain, 0, size)); err != nil {
		return manifest{}, err
	}
	return readManifest(plain, size)
}
