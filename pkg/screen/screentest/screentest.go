// Package screentest reads recorded screens for tests: those in testdata/screens, and others in the same form.
package screentest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// Screen is a recorded screen and what has to be true of it.
type Screen struct {
	ID        string `json:"id"`
	Platform  string `json:"platform"` // android or ios
	Width     int    `json:"width"`
	Height    int    `json:"height"`
	Required  []Rule `json:"required"`  // each finds at least MinCount elements
	Forbidden []Rule `json:"forbidden"` // each finds fewer than MaxCount elements
	Root      *Node  `json:"tree"`

	Tree *screen.Tree `json:"-"`
}

// Rule is a selector and how many elements it finds.
type Rule struct {
	Description string         `json:"description"`
	Map         map[string]any `json:"selector"`
	MinCount    int            `json:"minCount"` // 1 when absent
	MaxCount    int            `json:"maxCount"` // 1 when absent

	Selector *screen.Selector `json:"-"`
}

// Edge is a transition: calls that lead from one screen to another.
type Edge struct {
	From  string                      `json:"from"`
	To    string                      `json:"to"`
	Tools []map[string]map[string]any `json:"tools"`
}

// Node is a node as it was recorded.
type Node struct {
	Bounds   *screen.Rect `json:"bounds"`
	Detail   Detail       `json:"detail"`
	Children []*Node      `json:"children"`
}

// Detail holds the properties of a recorded node under the names that the device's driver gives them.
type Detail struct {
	Class                       screen.Dialect `json:"class"`
	ClassName                   *string        `json:"className"`
	ResourceID                  *string        `json:"resourceId"`
	Text                        *string        `json:"text"`
	ContentDescription          *string        `json:"contentDescription"`
	AccessibilityText           *string        `json:"accessibilityText"`
	HintText                    *string        `json:"hintText"`
	StateDescription            *string        `json:"stateDescription"`
	PaneTitle                   *string        `json:"paneTitle"`
	PackageName                 string         `json:"packageName"`
	InputType                   int            `json:"inputType"`
	DrawingOrder                int            `json:"drawingOrder"`
	CollectionItemInfo          *Cell          `json:"collectionItemInfo"`
	Actions                     []string       `json:"actions"`
	IsEnabled                   *bool          `json:"isEnabled"`
	Enabled                     *bool          `json:"enabled"`
	IsVisibleToUser             *bool          `json:"isVisibleToUser"`
	IsImportantForAccessibility *bool          `json:"isImportantForAccessibility"`
	IsClickable                 bool           `json:"isClickable"`
	IsLongClickable             bool           `json:"isLongClickable"`
	IsCheckable                 bool           `json:"isCheckable"`
	IsChecked                   bool           `json:"isChecked"`
	IsSelected                  bool           `json:"isSelected"`
	Selected                    bool           `json:"selected"`
	IsFocused                   bool           `json:"isFocused"`
	Focused                     bool           `json:"focused"`
	IsEditable                  bool           `json:"isEditable"`
	IsScrollable                bool           `json:"isScrollable"`
	IsPassword                  bool           `json:"isPassword"`
	IsHeading                   bool           `json:"isHeading"`
	IsMultiLine                 bool           `json:"isMultiLine"`
}

// Cell is the place of a node in a list.
type Cell struct {
	RowIndex    int `json:"rowIndex"`
	ColumnIndex int `json:"columnIndex"`
}

// Load reads the screens below a folder, and the edges between them.
func Load(folder string) ([]*Screen, []Edge, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*", "*.json"))
	if err != nil {
		return nil, nil, err
	}
	if len(names) == 0 {
		return nil, nil, fmt.Errorf("%s has no screens", folder)
	}
	screens := make([]*Screen, 0, len(names))
	for _, name := range names {
		s, err := load(name)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		screens = append(screens, s)
	}
	var edges []Edge
	return screens, edges, decode(filepath.Join(folder, "edges.json"), &edges)
}

func decode(name string, into any) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

func load(name string) (*Screen, error) {
	s := &Screen{}
	if err := decode(name, s); err != nil {
		return nil, err
	}
	for _, rules := range [][]Rule{s.Required, s.Forbidden} {
		for i := range rules {
			var err error
			if rules[i].Selector, err = screen.ParseSelector(rules[i].Map, screen.ParseOptions{}); err != nil {
				return nil, err
			}
			rules[i].MinCount, rules[i].MaxCount = max(1, rules[i].MinCount), max(1, rules[i].MaxCount)
		}
	}
	s.Tree = screen.NewTree(s.Root.Convert(), s.Width, s.Height, s.Root.Detail.Class)
	return s, nil
}

// Convert makes a node of what was recorded.
func (n *Node) Convert() *screen.Node {
	d := n.Detail
	out := &screen.Node{
		Class: d.ClassName, Text: d.Text, Label: d.ContentDescription, Hint: d.HintText, ID: d.ResourceID,
		Bounds: n.Bounds,
		States: screen.States{
			Disabled: isFalse(d.IsEnabled) || isFalse(d.Enabled), Hidden: isFalse(d.IsVisibleToUser),
			Clickable: d.IsClickable, LongClickable: d.IsLongClickable, Checkable: d.IsCheckable,
			Selected: d.IsSelected || d.Selected, Focused: d.IsFocused || d.Focused, Editable: d.IsEditable,
			Scrollable: d.IsScrollable, Password: d.IsPassword, Heading: d.IsHeading, MultiLine: d.IsMultiLine,
		},
		Details: screen.Details{
			StateDescription: d.StateDescription, PaneTitle: d.PaneTitle, InputType: d.InputType,
			DrawingOrder: d.DrawingOrder, Unimportant: isFalse(d.IsImportantForAccessibility),
		},
	}
	if d.AccessibilityText != nil {
		out.Label = d.AccessibilityText
	}
	if d.IsChecked {
		out.Checked = screen.ToggleOn
	}
	if d.CollectionItemInfo != nil {
		out.Row, out.Column = &d.CollectionItemInfo.RowIndex, &d.CollectionItemInfo.ColumnIndex
	}
	for _, child := range n.Children {
		out.Children = append(out.Children, child.Convert())
	}
	return out
}

func isFalse(value *bool) bool { return value != nil && !*value }
