package adbd

import (
	"encoding/binary"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	syncPath  = 1024      // the longest path of a request
	syncChunk = 64 * 1024 // the most data in one packet
)

// sync serves the file transfer protocol: requests of an id and a path, one after another.
func (s *stream) sync() {
	for {
		id, argument, err := s.syncRequest()
		if err != nil || id == "QUIT" {
			return
		}
		switch id {
		case "STAT":
			err = s.syncStat(argument)
		case "STA2", "LST2":
			err = s.syncStat2(id, argument)
		case "LIST":
			err = s.syncList(argument)
		case "SEND":
			err = s.syncSend(argument)
		case "RECV":
			err = s.syncReceive(argument)
		default:
			err = s.syncFail("unknown request " + id)
		}
		if err != nil {
			return
		}
	}
}

func (s *stream) syncHeader() (id string, n uint32, err error) {
	var head [8]byte
	if _, err := io.ReadFull(s, head[:]); err != nil {
		return "", 0, err
	}
	return string(head[:4]), binary.LittleEndian.Uint32(head[4:]), nil
}

func (s *stream) syncRequest() (id, argument string, err error) {
	id, n, err := s.syncHeader()
	if err != nil {
		return "", "", err
	}
	if n > syncPath {
		return "", "", fmt.Errorf("a path of %d bytes", n)
	}
	data := make([]byte, n)
	_, err = io.ReadFull(s, data)
	return id, string(data), err
}

// syncAnswer writes an id and values.
func (s *stream) syncAnswer(id string, values ...any) error {
	out := []byte(id)
	for _, v := range values {
		var err error
		if out, err = binary.Append(out, binary.LittleEndian, v); err != nil {
			return err
		}
	}
	_, err := s.Write(out)
	return err
}

func (s *stream) syncFail(text string) error {
	return s.syncAnswer("FAIL", uint32(len(text)), []byte(text))
}

func (s *stream) files() *Files { return s.transport.device.phone.Files() }

// syncStat answers zeroes for a file that does not exist.
func (s *stream) syncStat(name string) error {
	file, err := s.files().Stat(name)
	if err != nil {
		return s.syncAnswer("STAT", [3]uint32{})
	}
	return s.syncAnswer("STAT", file.Mode, uint32(len(file.Data)), uint32(file.ModTime.Unix()))
}

func (s *stream) syncStat2(id, name string) error {
	var stat struct {
		Error                  uint32
		Device, Inode          uint64
		Mode, Links, UID       uint32
		GID                    uint32
		Size                   uint64
		Access, Modify, Change int64
	}
	file, err := s.files().Stat(name)
	if err != nil {
		stat.Error = uint32(syscall.ENOENT)
		return s.syncAnswer(id, stat)
	}
	stat.Mode, stat.Links, stat.Size = file.Mode, 1, uint64(len(file.Data))
	stat.Modify = file.ModTime.Unix()
	return s.syncAnswer(id, stat)
}

func (s *stream) syncList(folder string) error {
	for _, file := range s.files().List(folder) {
		name := path.Base(file.Path)
		entry := [4]uint32{file.Mode, uint32(len(file.Data)), uint32(file.ModTime.Unix()), uint32(len(name))}
		if err := s.syncAnswer("DENT", entry, []byte(name)); err != nil {
			return err
		}
	}
	return s.syncAnswer("DONE", [4]uint32{})
}

// syncSend receives a file. argument is "path,mode".
func (s *stream) syncSend(argument string) error {
	comma := strings.LastIndex(argument, ",")
	if comma < 0 {
		return s.syncFail("no mode in " + argument)
	}
	name := argument[:comma]
	mode, err := strconv.ParseUint(argument[comma+1:], 10, 32)
	if err != nil {
		return s.syncFail("not a mode: " + argument[comma+1:])
	}
	var data []byte
	for {
		id, n, err := s.syncHeader()
		switch {
		case err != nil:
			return err
		case id == "DONE":
			return s.syncStore(name, data, uint32(mode), time.Unix(int64(n), 0))
		case id != "DATA" || n > syncChunk:
			return s.syncFail(fmt.Sprintf("not data: %s with %d bytes", id, n))
		}
		start := len(data)
		data = append(data, make([]byte, n)...)
		if _, err := io.ReadFull(s, data[start:]); err != nil {
			return err
		}
	}
}

func (s *stream) syncStore(name string, data []byte, mode uint32, modTime time.Time) error {
	if file, err := s.files().Stat(name); err == nil && file.Mode&ModeFolder != 0 {
		return s.syncFail("couldn't create file: Is a directory")
	}
	if err := s.files().Write(name, data, mode, modTime); err != nil {
		return s.syncFail("couldn't create file: Permission denied")
	}
	return s.syncAnswer("OKAY", uint32(0))
}

// syncReceive sends a file.
func (s *stream) syncReceive(name string) error {
	file, err := s.files().Stat(name)
	if err != nil {
		return s.syncFail("open failed: No such file or directory")
	}
	if file.Mode&ModeFolder != 0 {
		return s.syncFail("read failed: Is a directory")
	}
	for data := file.Data; len(data) > 0; {
		n := min(len(data), syncChunk)
		if err := s.syncAnswer("DATA", uint32(n), data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return s.syncAnswer("DONE", uint32(0))
}
