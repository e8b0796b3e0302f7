package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
)

const packageFile = "package.json"

// extendPackage replaces the package.json of a starter's files by the one in dir, if there is one, with what that lacks.
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

// addPackageMembers adds what a package.json lacks of another one: its type, and members of its objects. Every other
// byte stays.
func addPackageMembers(data, wanted []byte) ([]byte, error) {
	var has, adds map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(data, &has), json.Unmarshal(wanted, &adds)); err != nil {
		return nil, err
	}
	if has == nil {
		return nil, errors.New("it is not a JSON object")
	}
	delete(adds, "private")
	if kind := string(has["type"]); kind != "" && kind != `"module"` {
		return nil, fmt.Errorf("its type is %s, and the tools of a project are modules", kind)
	}
	var err error
	for _, name := range slices.Sorted(maps.Keys(adds)) {
		if has[name] == nil {
			data, err = insertMember(data, nil, fmt.Sprintf("%q: %s", name, adds[name]))
		} else if name != "type" {
			data, err = addMembers(data, name, has[name], adds[name])
		}
		if err != nil {
			return nil, err
		}
	}
	return data, nil
}

// addMembers adds the members that the object with a name lacks.
func addMembers(data []byte, name string, object, wanted json.RawMessage) ([]byte, error) {
	var has, adds map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(object, &has), json.Unmarshal(wanted, &adds)); err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(adds)) {
		if has[key] != nil {
			continue
		}
		var err error
		if data, err = insertMember(data, []string{name}, fmt.Sprintf("%q: %s", key, adds[key])); err != nil {
			return nil, err
		}
	}
	return data, nil
}
