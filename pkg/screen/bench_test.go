package screen_test

import (
	"fmt"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// large is a screen of n rows of ten nodes each.
func large(rows int) *screen.Node {
	root := at("root", 0, 0, 1000, rows*100)
	for i := range rows {
		top := i * 100
		row := at(fmt.Sprint("row", i), 0, top, 1000, top+100)
		row.ID, row.Clickable = new("com.example:id/row"), true
		for k := range 3 {
			box := at(fmt.Sprint("box", i, k), k*300, top, k*300+300, top+100)
			box.Unimportant = k == 1
			for _, text := range []string{fmt.Sprint("ORD-", i), fmt.Sprint("Price ", k)} {
				child := labelled(text, at(text, k*300, top, k*300+100, top+50))
				child.Class = new("android.widget.TextView")
				box.Children = append(box.Children, child)
			}
			row.Children = append(row.Children, box)
		}
		root.Children = append(root.Children, row)
	}
	return root
}

func BenchmarkResolve(b *testing.B) {
	root := large(1000)
	for name, text := range map[string]string{
		"text":     `{"androidAccessibility": {"textRegex": "ORD-999"}}`,
		"pattern":  `{"androidAccessibility": {"textRegex": "ORD-\\d+9"}, "index": 3}`,
		"relation": `{"androidAccessibility": {"textRegex": "Price 2"}, "below": {"androidAccessibility": {"textRegex": "ORD-500"}}}`,
		"row": `{"androidAccessibility": {"textRegex": "Price 2"}, "childOf": {"androidAccessibility": {"isClickable": true},
			"containsDescendants": [{"androidAccessibility": {"textRegex": "ORD-500"}}, {"androidAccessibility": {"textRegex": "Price 1"}}]}}`,
		"nothing": `{"androidAccessibility": {"textRegex": "nothing"}}`,
	} {
		s := selector(b, text)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tree := screen.NewTree(root, 1000, 2000, screen.AndroidAccessibility)
				tree.Resolve(s)
			}
			b.ReportMetric(float64(len(screen.NewTree(root, 0, 0).Nodes())), "nodes")
		})
	}
	s := selector(b, `{"iosMaestro": {"textRegex": "price 2"}, "below": {"iosMaestro": {"textRegex": "ord-5.."}}}`)
	b.Run("maestro", func(b *testing.B) {
		for b.Loop() {
			screen.NewTree(root, 1000, 2000, screen.IOSMaestro).ResolveMaestro(s)
		}
	})
}

func BenchmarkReferencesAndText(b *testing.B) {
	root := large(1000)
	tree := screen.NewTree(root, 1000, 2000, screen.AndroidAccessibility)
	for i, n := range tree.Nodes() {
		n.Key = screen.Key(fmt.Sprint(i))
	}
	refs := &screen.References{}
	refs.See(tree)
	b.Run("see", func(b *testing.B) {
		for b.Loop() {
			refs.See(tree)
		}
	})
	b.Run("text", func(b *testing.B) {
		for b.Loop() {
			_ = tree.Text(screen.TextOptions{MaxBytes: 6000, Ref: refs.Ref}).String()
		}
	})
	b.Run("near", func(b *testing.B) {
		for b.Loop() {
			tree.NearText("ORD-12x")
		}
	})
}
