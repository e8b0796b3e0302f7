package document

import "github.com/trailblaze/trailblaze/pkg/trail"

// SetTitle gives the trail another title.
func (d *Document) SetTitle(title string) error {
	if len(d.now.text) == 0 {
		d.opts.Config.Title = title
		d.now = emptyState(d.opts)
		return nil
	}
	text, err := trail.SetTitle(d.opts.Name, d.now.text, title)
	if err != nil {
		return err
	}
	return d.replaceText(text, "", false).Err()
}
