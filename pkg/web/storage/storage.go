// Package storage reads and writes cookies and local storage in the format of Playwright.
package storage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// MaxBytes bounds a file with a storage state, in bytes.
const MaxBytes = 32 << 20

// Hint says how to write a file with a storage state.
const Hint = "write a file with the result of web_getStorageState, or with Playwright's context.storageState()"

// State has Playwright's format.
type State struct {
	Cookies []Cookie `json:"cookies"`
	Origins []Origin `json:"origins"`
}

// Cookie has the field names that the DevTools protocol and Playwright share. Expires is in seconds since 1970, -1 for
// a session cookie.
type Cookie struct {
	Name     string  `json:"name"`
	Value    string  `json:"value"`
	URL      string  `json:"url,omitempty"`
	Domain   string  `json:"domain,omitempty"`
	Path     string  `json:"path,omitempty"`
	Expires  float64 `json:"expires,omitempty"`
	HTTPOnly bool    `json:"httpOnly"`
	Secure   bool    `json:"secure"`
	SameSite string  `json:"sameSite,omitempty"`
	// PartitionKey is the site of the page in which a partitioned cookie was set. CrossSite says that a frame of
	// another site was between them; Playwright uses this name for it.
	PartitionKey string `json:"partitionKey,omitempty"`
	CrossSite    *bool  `json:"_crHasCrossSiteAncestor,omitempty"`
}

// ProtocolCookie is a cookie as the DevTools protocol has it.
type ProtocolCookie struct {
	Cookie
	CrossSite    *bool         `json:"_crHasCrossSiteAncestor,omitempty"` // not used
	PartitionKey *partitionKey `json:"partitionKey,omitempty"`
}

type partitionKey struct {
	TopLevelSite         string `json:"topLevelSite"`
	HasCrossSiteAncestor bool   `json:"hasCrossSiteAncestor"`
}

// ToProtocol returns a cookie as the DevTools protocol has it.
func (c Cookie) ToProtocol() ProtocolCookie {
	p := ProtocolCookie{Cookie: c}
	if c.PartitionKey != "" {
		p.PartitionKey = &partitionKey{TopLevelSite: c.PartitionKey, HasCrossSiteAncestor: c.CrossSite != nil && *c.CrossSite}
	}
	return p
}

// FromProtocol returns a cookie as Playwright has it.
func (p ProtocolCookie) FromProtocol() Cookie {
	c := p.Cookie
	if p.PartitionKey != nil {
		c.PartitionKey, c.CrossSite = p.PartitionKey.TopLevelSite, &p.PartitionKey.HasCrossSiteAncestor
	}
	return c
}

// Origin has the local storage of an origin such as https://shop.example.
type Origin struct {
	Origin       string          `json:"origin"`
	LocalStorage []Item          `json:"localStorage"`
	IndexedDB    json.RawMessage `json:"indexedDB,omitempty"` // is not applied
}

// Item is a pair of name and value in a local storage.
type Item struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Add adds the local storage of an origin that is not known yet.
func (s *State) Add(o Origin, known map[string]bool) {
	if o.Origin == "" || known[o.Origin] {
		return
	}
	known[o.Origin] = true
	if len(o.LocalStorage) > 0 {
		s.Origins = append(s.Origins, o)
	}
}

// Stored returns the origins with items in their local storage.
func (s *State) Stored() []Origin {
	return slices.DeleteFunc(slices.Clone(s.Origins), func(o Origin) bool { return len(o.LocalStorage) == 0 })
}

// Databases returns how many origins have databases, which are not applied.
func (s *State) Databases() int {
	n := 0
	for _, o := range s.Origins {
		if text := strings.TrimSpace(string(o.IndexedDB)); text != "" && text != "[]" && text != "null" {
			n++
		}
	}
	return n
}

// Load reads the storage state of a file.
func Load(path string) (*State, error) {
	data, err := files.Read(path, MaxBytes)
	if err != nil {
		return nil, fault.Wrap(fault.Misuse, err, Hint, "storageState")
	}
	state, err := Parse(data)
	if err != nil {
		return nil, fault.Wrap(fault.Misuse, err, Hint, "storageState: "+path)
	}
	return &state, nil
}

// CheckFile returns an error for a file with anything but a storage state. One that does not exist may be written
// before it is needed. A relative path, which starts at the folder of a session, is not checked.
func CheckFile(path string) error {
	if !filepath.IsAbs(path) {
		return nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	_, err := Load(path)
	return err
}

// Parse parses a storage state.
func Parse(data []byte) (State, error) {
	var state State
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] != '{' {
		return state, errors.New("not a JSON object with cookies and origins")
	}
	if err := json.Unmarshal(data, &state); err != nil {
		return state, fmt.Errorf("not a storage state in JSON: %w", err)
	}
	if state.Cookies == nil && state.Origins == nil {
		return state, errors.New("it has neither cookies nor origins")
	}
	for _, o := range state.Origins {
		if origin := syntax.OriginOf(o.Origin); origin == "" || origin != strings.TrimSuffix(o.Origin, "/") {
			return state, fmt.Errorf("%q is not an origin, such as https://shop.example", o.Origin)
		}
	}
	return state, prepareCookies(state.Cookies)
}

// ParseCookies parses a list of cookies or a storage state, and fills in defaults.
func ParseCookies(text string) (State, error) {
	var state State
	target := any(&state)
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		target = &state.Cookies
	}
	if err := json.Unmarshal([]byte(text), target); err != nil {
		return state, fmt.Errorf("not cookies in JSON: %w", err)
	}
	if state.Cookies == nil {
		return state, errors.New("it has no cookies")
	}
	return state, prepareCookies(state.Cookies)
}

// prepareCookies fills in the defaults of cookies.
func prepareCookies(cookies []Cookie) error {
	for i := range cookies {
		c := &cookies[i]
		switch {
		case c.Name == "":
			return fmt.Errorf("cookie %d has no name", i+1)
		case c.URL == "" && c.Domain == "":
			return fmt.Errorf("cookie %q has neither url nor domain", c.Name)
		case c.URL == "" && c.Path == "":
			c.Path = "/"
		}
		c.Expires = max(c.Expires, 0)
		if c.SameSite != "" {
			c.SameSite = strings.ToUpper(c.SameSite[:1]) + strings.ToLower(c.SameSite[1:])
		}
	}
	return nil
}
