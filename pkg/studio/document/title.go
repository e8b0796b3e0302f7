package document

import "github.com/trailblaze/trailblaze/pkg/trail"

// SetTitle gives the trail another title.
func (d *Document) SetTitle(title string) error {
	if len(d.now.text) == 0 {
		d.opts.Config.Title = title
		d.now = New(d.opts).now
		return nil
	}
	text, err := trail.SetTitle(d.opts.Name, d.now.text, title)
	if err != nil {
		return err
	}
	next, problems := parse(d.opts.Name, text)
	if len(problems) > 0 {
		return problems
	}
	next.keepProvisional(d.now)
	d.commit(next, "", false)
	return nil
}
