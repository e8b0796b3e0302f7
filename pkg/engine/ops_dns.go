package engine

import (
	"errors"
	"net"
)

// dnsOps returns the operations of node:dns.
func dnsOps() (syncOps, asyncOps opTable) {
	return nil, opTable{"dns.lookup": lookupName}
}

// lookupName implements dns.lookup(name, family), with family 0, 4 or 6: it returns addresses in the order of the
// system's resolver.
func lookupName(c *call) (any, error) {
	name := arg[string](c.args, 0)
	network := map[int64]string{4: "ip4", 6: "ip6"}[intArg(c.args, 1)]
	if network == "" {
		network = "ip"
	}
	found, err := net.DefaultResolver.LookupIP(c.ctx, network, name)
	if err != nil {
		var lookup *net.DNSError
		if !errors.As(err, &lookup) {
			lookup = &net.DNSError{IsNotFound: true}
		}
		return nil, lookupError(lookup, name)
	}
	out := make([]any, len(found))
	for i, ip := range found {
		out[i] = ip.String()
	}
	return out, nil
}
