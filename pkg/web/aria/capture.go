package aria

import (
	"slices"
	"strings"
)

// Capture is the result of DOMSnapshot.captureSnapshot with CaptureParams. It has only the fields that are used here.
type Capture struct {
	Documents []document `json:"documents"`
	Strings   []string   `json:"strings"`

	// Mixed holds the backend node ids of check boxes that a script made indeterminate, for which there is no
	// attribute. May be nil.
	Mixed []int `json:"mixed,omitempty"`
}

// CaptureParams are the parameters of DOMSnapshot.captureSnapshot.
func CaptureParams() map[string]any {
	return map[string]any{"computedStyles": []string{"display", "visibility", "content", "content-visibility", "cursor"}}
}

// The order of CaptureParams.
const (
	styleDisplay = iota
	styleVisibility
	styleContent
	styleContentVisibility
	styleCursor
)

// document is one document in the order of its flat tree: slots contain the nodes that are assigned to them. Numbers
// are indexes of Strings.
type document struct {
	Title   int     `json:"title"`
	URL     int     `json:"documentURL"`
	FrameID int     `json:"frameId"`
	ScrollX float64 `json:"scrollOffsetX"`
	ScrollY float64 `json:"scrollOffsetY"`
	Nodes   struct {
		ParentIndex    []int       `json:"parentIndex"`
		NodeType       []int       `json:"nodeType"`
		NodeName       []int       `json:"nodeName"`
		NodeValue      []int       `json:"nodeValue"`
		BackendNodeID  []int       `json:"backendNodeId"`
		Attributes     [][]int     `json:"attributes"`
		ShadowRootType rareStrings `json:"shadowRootType"`
		TextValue      rareStrings `json:"textValue"`
		InputValue     rareStrings `json:"inputValue"`
		PseudoType     rareStrings `json:"pseudoType"`
		InputChecked   rareBools   `json:"inputChecked"`
		OptionSelected rareBools   `json:"optionSelected"`
		// ContentDocumentIndex has the index of the document in a frame element.
		ContentDocumentIndex rareStrings `json:"contentDocumentIndex"`
	} `json:"nodes"`
	Layout struct {
		NodeIndex []int       `json:"nodeIndex"`
		Styles    [][]int     `json:"styles"`
		Bounds    [][]float64 `json:"bounds"`
	} `json:"layout"`
}

type rareStrings struct {
	Index []int `json:"index"`
	Value []int `json:"value"`
}

type rareBools struct {
	Index []int `json:"index"`
}

// Document is one of the documents of a capture.
type Document struct {
	*Capture        // has only this document
	FrameID  string // in the DevTools protocol
	Title    string
	URL      string
	Owner    int // backend node id of the frame element that holds the document; 0 when the capture does not have it
	Root     int // backend node id of the document
	Viewport Viewport
}

// Viewport is the part of a document that its frame shows: how far it is scrolled, and its size. The unit is that of
// [Tree.Box]: a CSS pixel, multiplied with the zoom of the frame.
type Viewport struct{ ScrollX, ScrollY, Width, Height float64 }

// Split returns the documents of a capture: the main one, and those of frames in the same process.
func (c *Capture) Split() []Document {
	documents := make([]Document, len(c.Documents))
	for i := range c.Documents {
		d := &c.Documents[i]
		one := *c
		one.Documents = c.Documents[i : i+1]
		documents[i].Capture = &one
		documents[i].FrameID, documents[i].Title, documents[i].URL = c.text(d.FrameID), c.text(d.Title), c.text(d.URL)
		documents[i].Root, documents[i].Viewport = at(d.Nodes.BackendNodeID, 0, 0), d.viewport()
	}
	for i := range c.Documents {
		d := &c.Documents[i]
		for k, owner := range d.Nodes.ContentDocumentIndex.Index {
			if inner := at(d.Nodes.ContentDocumentIndex.Value, k, -1); inner >= 0 && inner < len(documents) {
				documents[inner].Owner = at(d.Nodes.BackendNodeID, owner, 0)
			}
		}
	}
	return documents
}

func (d *document) viewport() Viewport {
	v := Viewport{ScrollX: d.ScrollX, ScrollY: d.ScrollY}
	if first := at(d.Layout.NodeIndex, 0, -1); first == 0 { // the layout of the document itself
		if box := at(d.Layout.Bounds, 0, nil); len(box) == 4 {
			v.Width, v.Height = box[2], box[3]
		}
	}
	return v
}

// Skipped returns the backend node ids of elements of the main document whose content the browser has not laid out,
// because they are far out of view and have content-visibility: auto. Playwright includes them, so the caller lays them
// out and captures again. An element without visible content stays in the list.
func (c *Capture) Skipped() []int {
	if len(c.Documents) == 0 {
		return nil
	}
	d := &c.Documents[0]
	hasRenderedDescendant, holds := map[int]bool{}, map[int]bool{}
	var far []int
	for k, i := range d.Layout.NodeIndex {
		hasRenderedDescendant[at(d.Nodes.ParentIndex, i, -1)] = true
		if c.skips(at(d.Layout.Styles, k, nil)) == "auto" {
			far = append(far, i)
		}
	}
	if len(far) == 0 {
		return nil
	}
	for i, up := range d.Nodes.ParentIndex {
		if kind := at(d.Nodes.NodeType, i, 0); kind == elementNode ||
			kind == textNode && normalize(c.text(at(d.Nodes.NodeValue, i, -1))) != "" {
			holds[up] = true
		}
	}
	var ids []int
	for _, i := range slices.Compact(far) {
		if holds[i] && !hasRenderedDescendant[i] {
			ids = append(ids, at(d.Nodes.BackendNodeID, i, 0))
		}
	}
	return ids
}

// skips returns the value of content-visibility, empty where it has no effect: on inline elements and parts of tables.
func (c *Capture) skips(styles []int) string {
	display := strings.TrimPrefix(c.text(at(styles, styleDisplay, -1)), "inline-")
	if display == "inline" || strings.HasPrefix(display, "ruby") ||
		strings.HasPrefix(display, "table") && display != "table-cell" {
		return ""
	}
	return c.text(at(styles, styleContentVisibility, -1))
}

// HasCheckBox reports whether the page may have a check box, for which Mixed is needed.
func (c *Capture) HasCheckBox() bool {
	return slices.ContainsFunc(c.Strings, func(s string) bool { return strings.EqualFold(s, "checkbox") })
}
