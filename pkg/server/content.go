package server

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

// content is one part of a result's content, of any type.
type content struct {
	Type     string            `json:"type"`
	Text     string            `json:"text"`
	Data     string            `json:"data"` // of images and audio, in base64
	MIME     string            `json:"mimeType"`
	Name     string            `json:"name"` // of links
	URI      string            `json:"uri"`
	Resource *embeddedResource `json:"resource"`
}

// embeddedResource is the resource of a part.
type embeddedResource struct {
	URI  string  `json:"uri"`
	MIME string  `json:"mimeType"`
	Text *string `json:"text"`
	Blob string  `json:"blob"` // in base64
}

// contentList is the content of a result that may be malformed. Older servers send a single part instead of a list. A
// malformed part is empty.
type contentList []content

// maxParts is the number of parts of a result that are read. Each takes far more memory than the few bytes that it may
// have in the message.
const maxParts = 10_000

// UnmarshalJSON implements json.Unmarshaler. It never fails. Of a list it reads one part more than are used.
func (l *contentList) UnmarshalJSON(raw []byte) error {
	*l = contentList{}
	in := json.NewDecoder(bytes.NewReader(raw))
	if raw[0] != '[' { // encoding/json has removed the space before it
		*l = contentList{partOf(raw)}
		return nil
	}
	_, _ = in.Token() // that is the bracket
	for in.More() && len(*l) <= maxParts {
		var part json.RawMessage
		if err := in.Decode(&part); err != nil {
			return err // not reached: the list is valid
		}
		*l = append(*l, partOf(part))
	}
	return nil
}

// partOf decodes a part of a result, empty when it is malformed.
func partOf(raw []byte) content {
	var c content
	if json.Unmarshal(raw, &c) != nil {
		return content{}
	}
	return c
}

// readContent adds the first text and all attachments to a result.
func (s *Server) readContent(name string, parts []content, out *tool.Result) {
	hasText := false
	if len(parts) > maxParts {
		parts = parts[:maxParts]
		s.warnIgnored(name, fmt.Sprintf("the parts of content after the first %d", maxParts))
	}
	for i, c := range parts {
		var a tool.Attachment
		var err error
		switch c.Type {
		case "text":
			if !hasText {
				out.Text, hasText = c.Text, true
			}
			continue
		case "image", "audio":
			a = tool.Attachment{MIME: c.MIME}
			a.Data, a.Note, err = decodeData(c.Data)
		case "resource_link":
			a = tool.Attachment{MIME: c.MIME, Name: c.Name, URI: c.URI}
		case "resource":
			if c.Resource == nil {
				continue
			}
			a = tool.Attachment{MIME: c.Resource.MIME, URI: c.Resource.URI}
			if c.Resource.Text != nil {
				a.Data, a.Note = limitData([]byte(*c.Resource.Text))
			} else {
				a.Data, a.Note, err = decodeData(c.Resource.Blob)
			}
		default:
			continue
		}
		if err != nil {
			s.warnIgnored(name, fmt.Sprintf("content[%d]: the data of the %s is not base64: %v", i, c.Type, err))
			continue
		}
		a.Type = c.Type
		out.Attachments = append(out.Attachments, a)
	}
}

// decodeData decodes base64, or returns a note if the data would exceed the limit.
func decodeData(encoded string) (data []byte, note string, err error) {
	if size := base64.StdEncoding.DecodedLen(len(encoded)); size > tool.MaxAttachment+2 { // it counts the padding
		return nil, tooLargeNote(size), nil
	}
	if data, err = base64.StdEncoding.DecodeString(encoded); err != nil {
		return nil, "", err
	}
	data, note = limitData(data)
	return data, note, nil
}

func limitData(data []byte) ([]byte, string) {
	if len(data) > tool.MaxAttachment {
		return nil, tooLargeNote(len(data))
	}
	return data, ""
}

func tooLargeNote(size int) string {
	const mib = 1 << 20
	return fmt.Sprintf("%.1f MiB, over the limit of %d MiB", float64(size)/mib, tool.MaxAttachment/mib)
}
