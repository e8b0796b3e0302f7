package adbd

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Commands of the adb protocol.
const (
	cmdConnect = 0x4e584e43 // CNXN
	cmdAuth    = 0x48545541 // AUTH
	cmdOpen    = 0x4e45504f // OPEN
	cmdOkay    = 0x59414b4f // OKAY
	cmdClose   = 0x45534c43 // CLSE
	cmdWrite   = 0x45545257 // WRTE
)

// The first argument of AUTH.
const (
	authToken     = 1
	authPublicKey = 3
)

const (
	version    = 0x01000001 // in which the checksum of messages is not used
	maxPayload = 1 << 20
)

// message is one message of the adb protocol.
type message struct {
	command, arg0, arg1 uint32
	data                []byte
}

func readMessage(r io.Reader) (message, error) {
	var h struct{ Command, Arg0, Arg1, Length, Checksum, Magic uint32 }
	if err := binary.Read(r, binary.LittleEndian, &h); err != nil {
		return message{}, err
	}
	if h.Magic != ^h.Command || h.Length > maxPayload {
		return message{}, fmt.Errorf("not a message of the adb protocol: %+v", h)
	}
	m := message{h.Command, h.Arg0, h.Arg1, make([]byte, h.Length)}
	_, err := io.ReadFull(r, m.data)
	return m, err
}

func (m message) encode() []byte {
	out := make([]byte, 0, 24+len(m.data))
	for _, v := range []uint32{m.command, m.arg0, m.arg1, uint32(len(m.data)), checksum(m.data), ^m.command} {
		out = binary.LittleEndian.AppendUint32(out, v)
	}
	return append(out, m.data...)
}

// checksum is for servers of the first version of the protocol. The first message is sent before the version is known.
func checksum(data []byte) uint32 {
	var sum uint32
	for _, b := range data {
		sum += uint32(b)
	}
	return sum
}
