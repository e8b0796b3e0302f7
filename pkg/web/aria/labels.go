package aria

import (
	"slices"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// DropLabels removes texts below n that stand beside a field, or first in a group, and are its name, as the texts of
// labels are. It changes the nodes.
func DropLabels(n *screen.Node) {
	isLabelOf := func(label, field *screen.Node) bool {
		return label.Role == "text" && IsField(field) && label.Name() == field.Name()
	}
	isGroup := slices.Contains([]string{"group", "radiogroup"}, n.RoleName())
	var kept []*screen.Node
	for i, c := range n.Children {
		before, after := i > 0 && isLabelOf(c, n.Children[i-1]), i+1 < len(n.Children) && isLabelOf(c, n.Children[i+1])
		legend := i == 0 && c.Role == "text" && isGroup && c.Name() == n.Name()
		if !before && !after && !legend {
			kept = append(kept, c)
		}
		DropLabels(c)
	}
	n.Children = kept
}

// IsField reports whether people enter or choose something in an element.
func IsField(n *screen.Node) bool {
	role := n.RoleName()
	others := []string{"checkbox", "radio", "switch", "combobox", "listbox", "slider"}
	return screen.IsTextInput(role) || slices.Contains(others, role)
}
