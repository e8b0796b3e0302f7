package trail

import (
	"maps"

	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// SetMetadata returns data, a trail file, with a key of config.metadata set to value, or removed when value is nil.
// Every other byte is unchanged. The error is, or wraps, the fault.Problems of data or a *fault.Error.
func SetMetadata(name string, data []byte, key string, value any) ([]byte, error) {
	r, problems := read(name, data)
	if len(problems) > 0 {
		return nil, problems
	}
	want := r.file.clone()
	want.Config.Metadata = maps.Clone(want.Config.Metadata)
	delete(want.Config.Metadata, key)
	if value != nil {
		want.Config.Metadata = withMemory(want.Config.Metadata, yamldoc.Map{{Key: key, Value: value}})
	}
	want, err := reread(want)
	if err != nil {
		return nil, err
	}
	if sameFile(r.file, want) {
		return data, nil
	}
	edit := r.doc.Edit()
	if value == nil {
		r.removeMetadata(edit, key)
	} else {
		r.setMetadata(edit, key, want.Config.Metadata[key])
	}
	return r.finish(edit, want)
}

// SetTitle returns data, a trail file, with another config.title. Every other byte is unchanged. The error is, or wraps,
// the fault.Problems of data or a *fault.Error.
func SetTitle(name string, data []byte, title string) ([]byte, error) {
	r, problems := read(name, data)
	if len(problems) > 0 {
		return nil, problems
	}
	if r.file.Config.Title == title {
		return data, nil
	}
	want := r.file.clone()
	want.Config.Title = title
	edit := r.doc.Edit()
	r.setConfig(edit, "title", title)
	return r.finish(edit, want)
}

// configNode returns the mapping that contains config, and config itself.
func (r *reader) configNode() (parent, config yamldoc.Node, ok bool) {
	parent = r.root
	if r.file.List {
		items := r.root.Items()
		if len(items) == 0 {
			return parent, config, false
		}
		parent = items[0]
	}
	config, ok = field(parent, "config")
	return parent, config, ok
}

func (r *reader) setMetadata(edit *yamldoc.Editor, key string, value any) {
	_, config, _ := r.configNode()
	if have, ok := field(config, "metadata"); ok && len(have.Entries()) > 0 {
		edit.Set(have, key, value)
		return
	}
	r.setConfig(edit, "metadata", yamldoc.Map{{Key: key, Value: value}})
}

// setConfig sets a key of config, which need not be there.
func (r *reader) setConfig(edit *yamldoc.Editor, key string, value any) {
	newConfig := yamldoc.Map{{Key: key, Value: value}}
	parent, config, ok := r.configNode()
	switch {
	case ok && len(config.Entries()) > 0:
		edit.Set(config, key, value)
	case ok:
		edit.Set(parent, "config", newConfig)
	case r.file.List:
		edit.ReplaceItems(r.root, 0, 0, []any{yamldoc.Map{{Key: "config", Value: newConfig}}})
	default:
		edit.Insert(r.root, r.root.Entries()[0].Key, "config", newConfig)
	}
}

// removeMetadata removes a key of metadata, and metadata itself when it has no other key.
func (r *reader) removeMetadata(edit *yamldoc.Editor, key string) {
	_, config, _ := r.configNode()
	metadata, _ := field(config, "metadata")
	if len(metadata.Entries()) == 1 {
		edit.ReplaceKeys(config, []string{"metadata"}, nil)
		return
	}
	edit.ReplaceKeys(metadata, []string{key}, nil)
}
