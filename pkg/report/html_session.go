package report

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"image"
	_ "image/jpeg" // screenshots are one of these
	_ "image/png"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
)

// EventsFile is the name of a session's log in the session's folder.
const EventsFile = "events.ndjson"

// AddSession adds the events of the log in a session's folder. It counts lines that cannot be decoded, such as the last
// one of a run that was killed. A folder without a log, or with a log without events, is an error.
func (h *HTML) AddSession(dir string) error {
	file, err := files.Open(filepath.Join(dir, EventsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Misuse, "give a folder below the project's logsDir, or `latest`", "%s is not a session's folder: it has no %s", dir, EventsFile)
	}
	if err != nil {
		return fault.Wrap(fault.Misuse, err, "", "read a session")
	}
	defer file.Close()
	before := len(h.attempts)
	lost, err := readRecords(file, MaxLine, func(r event.Record) { h.handle(r, dir) })
	if err != nil {
		return fault.Wrap(fault.Misuse, err, "", "read a session")
	}
	if len(h.attempts) == before {
		return fault.New(fault.Misuse, "run the trail again", "%s has no events of a trail", file.Name())
	}
	h.attempts[len(h.attempts)-1].Lost = lost
	return nil
}

// keptFile is a file of a session, on a page.
type keptFile struct {
	event.Evidence
	Size          string       // empty when the file cannot be read
	Picture       template.URL // empty for other files
	Width, Height int          // of a picture, in pixels
	Text          excerpt      // empty for other files
	Link          template.URL // the content of a file that is not shown, or not wholly; may be empty
	Missing       string       // why nothing of it is shown
}

// Name returns the name for saving the file.
func (k keptFile) Name() string { return path.Base(k.File) }

// load reads a file for the page, from the session's folder only.
func (h *HTML) load(dir string, e event.Evidence) keptFile {
	kept := keptFile{Evidence: e}
	kept.Title, kept.File = lineText(e.Title), lineText(e.File)
	if e.HasSecret {
		kept.Missing = "not shown, because a secret was found in it"
		return kept
	}
	if dir == "" {
		kept.Missing = "the session has no folder"
		return kept
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		kept.Missing = "the session's folder cannot be read"
		return kept
	}
	defer root.Close()
	name := filepath.FromSlash(e.File)
	if info, err := root.Stat(name); err == nil && !info.Mode().IsRegular() { // opening a pipe may wait without end
		kept.Missing = "this is not a file"
		return kept
	}
	file, err := root.Open(name)
	if err != nil {
		kept.Missing = "the file is not there, or cannot be read"
		return kept
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		kept.Missing = "the file cannot be read"
	case h.files > maxAllFiles:
		kept.Missing = "not shown, because the page is full"
		kept.Size = bytesText(info.Size())
	default:
		kept.Size = bytesText(info.Size())
		h.read(&kept, file, info.Size())
	}
	return kept
}

// read fills in the picture, the text or the link. The content of a file decides, not its name.
func (h *HTML) read(kept *keptFile, file io.ReadSeeker, size int64) {
	config, format, err := image.DecodeConfig(file)
	if err != nil {
		h.readText(kept, file, size)
		return
	}
	if size > maxPicture {
		kept.Missing = "a picture that is too large for this page"
		return
	}
	data, err := readAt(file, 0, size)
	if err != nil {
		kept.Missing = "the file cannot be read"
		return
	}
	h.files += size
	kept.Picture = template.URL("data:image/" + format + ";base64," + base64.StdEncoding.EncodeToString(data))
	kept.Width, kept.Height = config.Width, config.Height
}

// readText fills in the beginning of a text, or the end of a server's log.
func (h *HTML) readText(kept *keptFile, file io.ReadSeeker, size int64) {
	from, part := int64(0), "first"
	if size > maxServerLog && isServerLog(kept.File) {
		from, part = size-maxServerLog, "last"
	}
	data, err := readAt(file, from, min(size, maxServerLog))
	if err != nil || bytes.IndexByte(data, 0) >= 0 {
		kept.Missing = "neither a picture nor a text"
		h.link(kept, file, size)
		return
	}
	h.files += int64(len(data))
	kept.Text.Text = Clean(string(data))
	if size > int64(len(data)) {
		kept.Text.Note = fmt.Sprintf("The %s %s of %s.", part, bytesText(int64(len(data))), bytesText(size))
		h.link(kept, file, size)
	}
}

// link fills in the link to a file that is not shown wholly, unless it is too large for the page.
func (h *HTML) link(kept *keptFile, file io.ReadSeeker, size int64) {
	if size > maxLinked || h.files+size > maxAllFiles {
		return
	}
	data, err := readAt(file, 0, size)
	if err != nil {
		return
	}
	h.files += size
	kept.Link = template.URL("data:application/octet-stream;base64," + base64.StdEncoding.EncodeToString(data))
}

func readAt(file io.ReadSeeker, from, n int64) ([]byte, error) {
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(file, n))
}

const serverLogPrefix, serverLogSuffix = "subprocess_stderr_", ".log"

func isServerLog(name string) bool {
	return strings.HasPrefix(name, serverLogPrefix) && strings.HasSuffix(name, serverLogSuffix)
}

// serverLogs returns the logs of the session's servers.
func (a *attempt) serverLogs() []event.Evidence {
	entries, err := os.ReadDir(a.dir)
	if a.dir == "" || err != nil {
		return nil
	}
	var found []event.Evidence
	for _, entry := range entries {
		if name := entry.Name(); isServerLog(name) {
			found = append(found, event.Evidence{File: name, Title: strings.TrimSuffix(strings.TrimPrefix(name, serverLogPrefix), serverLogSuffix)})
		}
	}
	return found
}
