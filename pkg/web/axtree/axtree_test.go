package axtree

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInDocumentOrder(t *testing.T) {
	t.Parallel()
	nodes := []Node{
		{
			ID:       "1",
			Children: []string{"2", "3"},
		},
		{ID: "2", Children: []string{"4", "lost", "1"}},
		{ID: "3"},
		{ID: "4", Children: []string{"4"}},
		{ID: "5"},
	}
	var got []string
	for _, n := range InDocumentOrder(nodes) {
		got = append(got, n.ID)
	}
	if diff := cmp.Diff([]string{"1", "2", "4", "3"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := InDocumentOrder(nil); len(got) != 0 {
		t.Errorf("without nodes: %v", got)
	}
}
