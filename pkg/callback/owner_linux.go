package callback

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// sameUser reports whether the other end of a connection belongs to our user: what the kernel says of its socket.
func sameUser(c net.Conn) bool {
	near, ok := c.LocalAddr().(*net.TCPAddr)
	far, also := c.RemoteAddr().(*net.TCPAddr)
	if !ok || !also {
		return false
	}
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		if uid, found := owner(table, far, near); found {
			return uid == strconv.Itoa(os.Getuid())
		}
	}
	return false
}

// owner finds in one of the kernel's tables the socket that has these addresses, its own first.
func owner(table string, own, peer *net.TCPAddr) (uid string, found bool) {
	data, err := os.ReadFile(table)
	if err != nil {
		return "", false
	}
	const local, remote, user = 1, 2, 7 // columns
	for line := range strings.Lines(string(data)) {
		row := strings.Fields(line)
		if len(row) > user && strings.HasSuffix(row[local], inTable(own)) && strings.HasSuffix(row[remote], inTable(peer)) {
			return row[user], true
		}
	}
	return "", false
}

// inTable is how an IPv4 address stands there, also as the end of one that is mapped into IPv6: in the machine's byte order.
func inTable(a *net.TCPAddr) string {
	var ip [4]byte
	binary.NativeEndian.PutUint32(ip[:], binary.BigEndian.Uint32(a.IP.To4()))
	return fmt.Sprintf("%s:%04X", strings.ToUpper(hex.EncodeToString(ip[:])), a.Port)
}
