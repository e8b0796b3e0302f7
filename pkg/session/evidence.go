package session

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// NewID returns an id for a session: <name>_<time>_<random>, safe as a file name.
func NewID(name string, now time.Time) string {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	return FileName(name) + "_" + now.UTC().Format("20060102T150405Z") + "_" + hex.EncodeToString(random[:])
}

// maxFileName leaves room for a time, a random part and a suffix within the 255 bytes that file systems allow.
const maxFileName = 100

// FileName makes a name safe as a file name on every system, and keeps it readable.
func FileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '_'
	}, name)
	safe = strings.TrimRight(strings.TrimLeft(safe, "-._"), "._")
	if len(safe) > maxFileName {
		safe = safe[:maxFileName]
	}
	if safe == "" {
		return "unnamed"
	}
	return safe
}

// MakeDir creates the folder of a session below logsDir. Only the user may enter it: it has what tools printed and
// returned.
func MakeDir(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o700)
}

// evidenceTimeout is the time limit for collecting the evidence of a device; one that does not respond must not delay
// the next trail for long.
const evidenceTimeout = 10 * time.Second

// CollectEvidence keeps what the device shows, in a folder of the session. A device that no call reached has nothing to
// show, and after an interruption nothing is collected, so that the run ends at once.
func (s *Session) CollectEvidence(ctx context.Context, folder string) {
	if s.device == nil || !s.device.used.Load() || s.opts.Dir == "" {
		return
	}
	if kind := fault.KindOf(Interruption(ctx)); kind == fault.Interrupted || kind == fault.Terminated {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), evidenceTimeout)
	defer cancel()
	for _, a := range s.device.Evidence(ctx) {
		if _, err := s.keep(folder, a); err != nil {
			s.unwritable(err)
			return
		}
	}
}

// keepAttachments writes what a call with args returned besides text into the session's folder, and sets where it is.
func (s *Session) keepAttachments(callID string, args map[string]any, attachments []tool.Attachment) {
	s.markSecrets(args, attachments)
	if s.opts.Dir == "" {
		return
	}
	for i := range attachments {
		a := &attachments[i]
		if a.Data == nil {
			if a.Note != "" {
				s.opts.Emit.Log("warn", "evidence", fmt.Sprintf("call %s: %s was not kept: %s", callID, attachmentTitle(*a), a.Note), "")
			}
			continue
		}
		ext, text := fileType(a.MIME)
		artifact := device.Artifact{Name: "call-" + callID + ext, Title: attachmentTitle(*a), Data: a.Data, Text: text, Foreign: !text}
		path, err := s.keepFor(callID, "calls", artifact)
		if err != nil {
			s.unwritable(err)
			return
		}
		a.File = path
	}
}

// markSecrets marks attachments of a call that may have a secret.
func (s *Session) markSecrets(args map[string]any, attachments []tool.Attachment) {
	if len(attachments) == 0 {
		return
	}
	given, err := json.Marshal(args)
	secretGiven := err != nil || s.hasSecret(given)
	for i, a := range attachments {
		attachments[i].MayHaveSecret = secretGiven || s.hasSecret(a.Data)
	}
}

// maxLongText is the number of bytes of a call's text that are kept; a note says how many more there were.
const maxLongText = 8 << 20

// keepLongText writes the text or error of a call into the session's folder when events have only its beginning.
func (s *Session) keepLongText(callID, text string) {
	if s.opts.Dir == "" {
		return
	}
	text = s.opts.Redactor.Text(text)
	if len(text) <= event.MaxText {
		return
	}
	artifact := device.Artifact{
		Name: "call-" + callID + ".txt", Title: "complete result", Data: []byte(event.Limit(text, maxLongText)),
	}
	if _, err := s.keepFor(callID, "calls", artifact); err != nil {
		s.unwritable(err)
	}
}

// attachmentTitle returns what an attachment is: its name, else its URI, else its type.
func attachmentTitle(a tool.Attachment) string { return cmp.Or(a.Name, a.URI, a.Type) }

// fileType returns the extension of a file of a media type, and whether it is text. Markup gets an extension that a
// browser shows as text, because it comes from a tool or a page and must not run scripts when a person opens it.
func fileType(mediaType string) (ext string, text bool) {
	mediaType, _, _ = strings.Cut(mediaType, ";")
	switch mediaType = strings.ToLower(strings.TrimSpace(mediaType)); mediaType {
	case "image/png", "image/gif", "image/webp", "image/bmp", "image/avif", "audio/wav", "audio/ogg", "audio/flac",
		"video/mp4", "video/webm", "application/pdf", "application/zip":
		_, sub, _ := strings.Cut(mediaType, "/")
		return "." + sub, false
	case "image/jpeg":
		return ".jpg", false
	case "audio/mpeg":
		return ".mp3", false
	case "application/json":
		return ".json", true
	case "application/xml", "application/yaml", "image/svg+xml", "application/xhtml+xml":
		return ".txt", true
	}
	if strings.HasPrefix(mediaType, "text/") {
		return ".txt", true
	}
	return ".bin", false
}

func (s *Session) unwritable(err error) {
	if s.opts.Unwritable != nil {
		s.opts.Unwritable(err)
	}
}

// keep writes an artifact into a folder of the session, reports it as an event, and returns its absolute path. A second
// file of one name gets a number.
func (s *Session) keep(folder string, a device.Artifact) (path string, err error) {
	return s.keepFor("", folder, a)
}

// keepFor is keep for an artifact of a call; callID may be empty.
func (s *Session) keepFor(callID, folder string, a device.Artifact) (path string, err error) {
	hasSecret := a.Foreign && s.hasSecret(a.Data)
	if hasSecret && isText(a.Data) {
		a.Text, hasSecret = true, false
	}
	path, err = s.write(folder, a)
	if err != nil {
		return "", err
	}
	relative, _ := filepath.Rel(s.opts.Dir, path) // path is below Dir
	kept := event.Evidence{
		File: filepath.ToSlash(relative), Title: cmp.Or(a.Title, s.stem(a.Name)), Step: int(s.step.Load()), Call: callID,
		HasSecret: hasSecret,
	}
	if a.Foreign && a.Text {
		s.opts.Emit.Log("info", "evidence", "secrets in "+kept.File+" were replaced by their names", "")
	}
	s.opts.Emit.Emit(kept)
	return path, nil
}

func (s *Session) hasSecret(data []byte) bool {
	redacted := s.opts.Redactor.Bytes(data)
	return len(data) > 0 && &redacted[0] != &data[0]
}

func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

// stem returns the name of an artifact as it is in the session's folder, without its extension.
func (s *Session) stem(name string) string {
	return FileName(s.opts.Redactor.Text(strings.TrimSuffix(name, filepath.Ext(name))))
}

// write writes an artifact into a folder of the session, and returns its absolute path.
func (s *Session) write(folder string, a device.Artifact) (path string, err error) {
	if s.opts.Dir == "" {
		return "", fault.New(fault.ToolFailed, "", "the session keeps no files")
	}
	dir := filepath.Join(s.opts.Dir, filepath.FromSlash(folder))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	data := a.Data
	if a.Text {
		data = []byte(s.opts.Redactor.Text(string(data)))
	}
	file, err := createNew(dir, s.stem(a.Name), filepath.Ext(a.Name))
	if err != nil {
		return "", err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", err
	}
	return file.Name(), nil
}

// createNew creates a file that did not exist, with a number in its name if there is one already.
func createNew(dir, name, ext string) (*os.File, error) {
	path := filepath.Join(dir, name+ext)
	for n := 2; ; n++ {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if !os.IsExist(err) {
			return file, err
		}
		path = filepath.Join(dir, fmt.Sprintf("%s-%d%s", name, n, ext))
	}
}
