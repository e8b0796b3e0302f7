package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
)

const packageFile = "package.json"

// extendPackage replaces the package.json of a starter's files by the one in dir, if there is one, with what that
// lacks.
func extendPackage(dir string, content map[string][]byte) error {
	if content[packageFile] == nil {
		return nil
	}
	path := filepath.Join(dir, packageFile)
	old, err := files.Read(path, maxAgentFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		content[packageFile], err = addPackageMembers(old, content[packageFile])
	}
	if err != nil {
		hint := "choose another folder: trailblaze init --typescript NAME makes one in this folder"
		return fault.New(fault.Misuse, hint, "%s cannot be extended: %v", path, err)
	}
	return nil
}

// addPackageMembers adds what a package.json lacks of another one, other than that it is private.
func addPackageMembers(data, wanted []byte) ([]byte, error) {
	var has, adds map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(data, &has), json.Unmarshal(wanted, &adds)); err != nil {
		return nil, err
	}
	if kind := string(has["type"]); kind != "" && kind != `"module"` {
		return nil, fmt.Errorf("its type is %s, and the tools of a project are modules", kind)
	}
	delete(adds, "private")
	return addMembers(data, adds)
}
