package report

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // screenshots are one of these
	_ "image/png"
	"io"
	"os"
	"path"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/files"
)

// shownFile is a file of a session, on a page.
type shownFile struct {
	event.Evidence
	Size          string  // empty when the file cannot be read
	Picture       string  // empty for other files
	Width, Height int     // of a picture, in pixels
	Text          Excerpt // empty for other files
	Link          string  // the content of a file that is not shown, or not wholly; may be empty
	Missing       string  // why nothing of it is shown
}

// label returns what the file is called on the page.
func (f shownFile) label() string { return cmp.Or(f.Title, f.File) }

// load reads a file for the page, from the session's folder only.
func (h *HTML) load(dir string, e event.Evidence) shownFile {
	shown := shownFile{Evidence: e}
	shown.Title, shown.File = lineText(e.Title), lineText(e.File)
	if e.HasSecret {
		shown.Missing = "not shown, because a secret was found in it"
		return shown
	}
	if dir == "" {
		shown.Missing = "the session has no folder"
		return shown
	}
	file, err := OpenFile(dir, e.File)
	switch {
	case errors.Is(err, files.ErrNotRegular):
		shown.Missing = "this is not a file"
		return shown
	case err != nil:
		shown.Missing = "the file is not there, or cannot be read"
		return shown
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		shown.Missing = "the file cannot be read"
	case h.files > maxAllFiles:
		shown.Missing = "not shown, because the page is full"
		shown.Size = bytesText(info.Size())
	default:
		shown.Size = bytesText(info.Size())
		h.read(&shown, file, info.Size())
	}
	return shown
}

// read fills in the picture, the text or the link. The content of a file decides, not its name.
func (h *HTML) read(shown *shownFile, file io.ReadSeeker, size int64) {
	config, format, err := image.DecodeConfig(file)
	if err != nil {
		h.readText(shown, file, size)
		return
	}
	if size > maxPicture {
		shown.Missing = "a picture that is too large for this page"
		return
	}
	data, err := readAt(file, 0, size)
	if err != nil {
		shown.Missing = "the file cannot be read"
		return
	}
	h.files += size
	shown.Picture = "data:image/" + format + ";base64," + base64.StdEncoding.EncodeToString(data)
	shown.Width, shown.Height = config.Width, config.Height
}

// readText fills in the beginning of a text, or the end of a log.
func (h *HTML) readText(shown *shownFile, file io.ReadSeeker, size int64) {
	from, part := int64(0), "first"
	if size > maxServerLog && path.Ext(shown.File) == ".log" {
		from, part = size-maxServerLog, "last"
	}
	data, err := readAt(file, from, min(size, maxServerLog))
	if err != nil || bytes.IndexByte(data, 0) >= 0 {
		shown.Missing = "neither a picture nor a text"
		h.link(shown, file, size)
		return
	}
	h.files += int64(len(data))
	shown.Text.Text = Clean(string(data))
	if size > int64(len(data)) {
		shown.Text.Note = fmt.Sprintf("The %s %s of %s.", part, bytesText(int64(len(data))), bytesText(size))
		h.link(shown, file, size)
	}
}

// link fills in the link to a file that is not shown wholly, unless it is too large for the page.
func (h *HTML) link(shown *shownFile, file io.ReadSeeker, size int64) {
	if size > maxLinked || h.files+size > maxAllFiles {
		return
	}
	data, err := readAt(file, 0, size)
	if err != nil {
		return
	}
	h.files += size
	shown.Link = "data:application/octet-stream;base64," + base64.StdEncoding.EncodeToString(data)
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

// serverLogs returns the logs of the servers of a session.
func serverLogs(dir string) []event.Evidence {
	entries, err := os.ReadDir(dir)
	if dir == "" || err != nil {
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

// shot is a picture that opens large.
func (f shownFile) shot(alt, caption string) g.Node {
	return h.Figure(h.Class("shot"),
		h.Button(h.Type("button"), h.Title("Show it large"),
			h.Img(h.Src(f.Picture), h.Width(number(f.Width)), h.Height(number(f.Height)), h.Alt(alt), h.Loading("lazy"), g.Attr("decoding", "async"))),
		h.FigCaption(g.Text(caption)))
}

func pictureNodes(all []shownFile) g.Node {
	return g.Map(all, func(f shownFile) g.Node {
		if f.Picture == "" {
			return nil
		}
		return f.shot(f.label(), f.label())
	})
}

// textNodes shows the files that are not pictures.
func textNodes(all []shownFile) g.Node {
	return g.Map(all, func(f shownFile) g.Node {
		switch {
		case f.Picture != "":
			return nil
		case f.Missing != "" && f.Link != "":
			return h.P(h.Class("file"), g.Text(f.label()+" "), f.link())
		}
		size := f.File
		if f.Size != "" {
			size += ", " + f.Size
		}
		return more("more", g.Group{g.Text(f.label() + " "), h.Span(h.Class("dim"), g.Text(size))}, f.content(),
			with(f.Link, func(string) g.Node { return h.P(h.Class("file"), f.link()) }))
	})
}

// content is the text of the file, or why it is not shown.
func (f shownFile) content() g.Node {
	if f.Missing != "" {
		return h.P(h.Class("note"), g.Text(f.Missing))
	}
	return f.Text.node()
}

func (f shownFile) link() g.Node {
	return g.Group{h.A(h.Href(f.Link), h.Download(path.Base(f.File)), g.Text(f.File)), space(), h.Span(h.Class("dim"), g.Text(f.Size))}
}

func keptNode(all []shownFile) g.Node {
	if len(all) == 0 {
		return nil
	}
	return g.Group{h.Div(h.Class("shots"), pictureNodes(all)), textNodes(all)}
}
