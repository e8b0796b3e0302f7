package web

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/access"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// fileChooser is a dialog of the browser for files, which a click has opened. It is not shown; web_uploadFile answers
// it.
type fileChooser struct {
	session       *cdp.Session
	backendNodeID int // of the field; 0 for a chooser that a script opened without one
	multiple      bool
}

// uploadCommand describes web_uploadFile.
func uploadCommand() command {
	return newCommand("web_uploadFile",
		"Chooses files for the only file field that matches, or without an element for the file chooser that a click opened.",
		`"files": {"type": ["array", "string"], "minItems": 1, "items": {"type": "string", "minLength": 1}, "minLength": 1,
		"description": "Paths beside the trail or in the project"}, `+syntax.ElementProperties(), webUploadFile, "files").
		checkedBy(checkOptionalElement)
}

func webUploadFile(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a := syntax.Arguments(args)
	paths, err := p.uploadPaths(a.Texts("files"))
	if err != nil {
		return tool.Result{}, err
	}
	what := text.Count(len(paths), "file")
	if !a.Has("ref") && !a.Has("nodeSelector") {
		if err := p.answerChooser(ctx, a, paths); err != nil {
			return tool.Result{}, err
		}
		return success("the file chooser was answered with %s", what), nil
	}
	t, err := syntax.ElementOf(a)
	if err != nil {
		return tool.Result{}, err
	}
	s := p.search(t, check{
		name: "upload", want: "ready for files", unique: true, options: map[string]any{"files": len(paths)},
	})
	o, err := s.do(ctx, p.actionLimit(ctx, a), func(ctx context.Context, o observed) error {
		field, err := o.frame.handle(ctx, "readyElement")
		if err != nil || field == nil {
			return errRemoved()
		}
		defer field.release()
		return unconfirmed(o.frame.session.Call(ctx, "DOM.setFileInputFiles",
			map[string]any{"files": paths, "objectId": field.objectID}, nil))
	})
	if err != nil {
		return tool.Result{}, err
	}
	p.takeChooser()
	return success("%s has %s", o, what), nil
}

// uploadPaths returns the absolute paths of files that the session may read.
func (p *page) uploadPaths(files []string) ([]string, error) {
	paths := make([]string, len(files))
	for i, file := range files {
		path, err := p.uploadPath(file)
		if err != nil {
			return nil, err
		}
		paths[i] = path
	}
	return paths, nil
}

func (p *page) uploadPath(file string) (string, error) {
	var tried []string
	for _, folder := range p.device.foldersOf(file) {
		path := filepath.Join(folder, filepath.FromSlash(file))
		tried = append(tried, path)
		info, err := os.Stat(path)
		switch {
		case err != nil:
			continue
		case !info.Mode().IsRegular():
			return "", fault.New(fault.InvalidArguments, "give the path of a file", "files: %s is not a file", path)
		case !p.device.files.AllowsPath(path):
			return "", fault.New(fault.ToolFailed, allowFileHint,
				"files: %s may not be read: it is not below %s", path, p.device.files)
		}
		return access.ResolvePath(path), nil
	}
	if len(tried) == 0 {
		return "", errNoFolder("files", file)
	}
	return "", &fault.Error{
		Kind: fault.InvalidArguments, Message: fmt.Sprintf("files: %s does not exist", tried[len(tried)-1]),
		Hint: "write a path beside the trail or in the project", Details: map[string]any{tool.MissingFile: tried[0]},
	}
}

// onFileChooser keeps a file chooser that the page opened, and tells a person about one that no call waits for.
func (p *page) onFileChooser(s *cdp.Session, e cdp.Event) {
	var params struct {
		Mode          string
		BackendNodeID int
	}
	if e.Decode(&params) != nil {
		return
	}
	p.update(func() {
		p.choosers++
		p.chooser = &fileChooser{s, params.BackendNodeID, params.Mode == "selectMultiple"}
	})
	if p.device.session.Ask == nil || p.awaitsChooser.Load() {
		return
	}
	files := "one file"
	if params.Mode == "selectMultiple" {
		files = "several files"
	}
	p.notes.Add(notes.Chooser, "the page asks for %s", files)
}

// fileChoosers returns how many file choosers the page has opened.
func (p *page) fileChoosers() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.choosers
}

// takeChooser returns the open file chooser, which is then not open any more; nil when there is none.
func (p *page) takeChooser() *fileChooser {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.chooser
	p.chooser = nil
	return c
}

// answerChooser waits for a file chooser and answers it.
func (p *page) answerChooser(ctx context.Context, args syntax.Arguments, paths []string) error {
	p.awaitsChooser.Store(true)
	defer p.awaitsChooser.Store(false)
	limit := p.actionLimit(ctx, args)
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := p.waitUntil(waiting, func() bool { return p.chooser != nil })
	switch c := p.takeChooser(); {
	case err != nil && ctx.Err() != nil:
		return err
	case c == nil:
		return fault.New(fault.ToolFailed, "click what opens it first, or name the file field with ref or nodeSelector",
			"no file chooser was opened (within %s; %s)", limit, p.location(ctx))
	case c.backendNodeID == 0:
		return fault.New(fault.ToolFailed, "",
			"the file chooser was opened by a script without a file field, which is not supported")
	case len(paths) > 1 && !c.multiple:
		return fault.New(fault.ToolFailed, "", "the file chooser takes one file, not %d", len(paths))
	default:
		err := c.session.Call(ctx, "DOM.setFileInputFiles",
			map[string]any{"files": paths, "backendNodeId": c.backendNodeID}, nil)
		if errors.Is(asGone(err), errGone) {
			return fault.New(fault.ToolFailed, "click what opens it again", "the field of the file chooser is gone")
		}
		return unconfirmed(err)
	}
}
