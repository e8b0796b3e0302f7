package aria

import "strings"

// Node is a node of the browser's own accessibility tree: Accessibility.AXNode of the DevTools protocol, as far as it is used.
type Node struct {
	ID            string   `json:"nodeId"`
	Ignored       bool     `json:"ignored"`
	Role          Value    `json:"role"`
	Name          Value    `json:"name"`
	ParentID      string   `json:"parentId"`
	ChildIDs      []string `json:"childIds"`
	BackendNodeID int      `json:"backendDOMNodeId"`
	FrameID       string   `json:"frameId"`
}

// Value is an Accessibility.AXValue.
type Value struct {
	Type  string `json:"type"`
	Value any    `json:"value"`
}

// Text is the value of one that is text, else empty.
func (v Value) Text() string {
	text, _ := v.Value.(string)
	return text
}

// ARIARole is the node's role as ARIA and Playwright call it; the browser has names of its own for what HTML tells apart and ARIA does
// not. It is empty for an ignored node and for one that has no role in ARIA.
func (n Node) ARIARole() string {
	role := n.Role.Text()
	switch role {
	case "image", "SvgRoot":
		return "img"
	case "Date", "DateTime", "InputTime", "ColorWell", "TextField":
		return "textbox"
	case "RootWebArea":
		return "document"
	case "Iframe", "IframePresentational":
		return "iframe"
	case "Details":
		return "group"
	case "ListGrid":
		return "grid"
	case "splitter":
		return "separator"
	}
	if n.Ignored || role == "" || role == "none" || role[:1] != strings.ToLower(role[:1]) {
		return ""
	}
	return role
}
