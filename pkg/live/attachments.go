package live

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Attachment is a part of a result that is not text: an image, audio, or a resource, embedded or linked.
type Attachment struct {
	Type string `json:"type"` // image, audio, resource or resource_link
	MIME string `json:"mime,omitempty"`
	Name string `json:"name,omitempty"` // of a linked resource
	URI  string `json:"uri,omitempty"`  // of a resource
	Size int    `json:"size"`           // in bytes
	File string `json:"file,omitempty"` // absolute path at which the session keeps it; empty for a picture that is withheld
	Note string `json:"note,omitempty"` // why the session does not keep it, or why Picture is missing
	// Picture is a PNG, JPEG, GIF or WebP, as MIME says, for a request with Pictures.
	Picture []byte `json:"picture,omitempty"`
}

// Attachments returns what a call returned besides text, without pictures.
func Attachments(result tool.Result) []Attachment {
	var list []Attachment
	for _, a := range result.Attachments {
		list = append(list, Attachment{
			Type: a.Type, MIME: a.MIME, Name: a.Name, URI: a.URI, Size: len(a.Data), File: a.File, Note: a.Note,
		})
	}
	return list
}

// withPictures is [Attachments] with the pictures that a model can be shown. Those that may show a secret have no File,
// either.
func withPictures(result tool.Result) []Attachment {
	list := Attachments(result)
	for i, a := range result.Attachments {
		if a.Type != "image" || a.Data == nil {
			continue
		}
		kind := http.DetectContentType(a.Data)
		switch {
		case a.MayHaveSecret:
			list[i].File, list[i].Note = "", "withheld, because it may show a secret"
		case !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind):
			list[i].Note = "not shown: it is not a PNG, JPEG, GIF or WebP"
		case len(a.Data) > maxPictureBytes:
			list[i].Note = fmt.Sprintf("not shown: it is larger than %d MiB", maxPictureBytes>>20)
		default:
			list[i].MIME, list[i].Picture = kind, a.Data
		}
	}
	return list
}

// How many pictures a report has, and the bytes of each: models and their clients refuse larger ones.
const (
	maxPictures     = 4
	maxPictureBytes = 3 << 20
)

// limitPictures removes pictures from a report: those after the first ones, and all, with where they are kept, while a
// screenshot of the device may show a secret or cannot be made.
func (s *Session) limitPictures(ctx context.Context, report *StepReport) {
	var pictures []*Attachment
	for _, c := range report.Calls {
		for i := range c.Attachments {
			if c.Attachments[i].Picture != nil {
				pictures = append(pictures, &c.Attachments[i])
			}
		}
	}
	if len(pictures) == 0 {
		return
	}
	withheld := s.whyWithheld(ctx)
	for i, a := range pictures {
		switch {
		case withheld != "":
			a.Picture, a.File, a.Note = nil, "", "withheld: "+withheld
		case i >= maxPictures:
			a.Picture, a.Note = nil, fmt.Sprintf("not shown: an answer has at most %d pictures", maxPictures)
		}
	}
}

// whyWithheld says why a picture that was made now may show a secret of the device's screen, empty if it shows none.
func (s *Session) whyWithheld(ctx context.Context) string {
	if !s.inner.UsedDevice() {
		return ""
	}
	view, err := s.readView(ctx, device.ViewOptions{Screenshot: true})
	if err != nil {
		return "it is not known whether the screen shows a secret"
	}
	s.between = following(s.between, view)
	switch {
	case view.Withheld != "":
		return view.Withheld
	case s.showsSecret(view):
		return "the screen shows a secret"
	}
	return ""
}
