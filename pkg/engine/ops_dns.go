package engine

import (
	"context"
	"errors"
	"net"
)

// dnsOps returns the operations of node:dns.
func dnsOps() (map[string]syncOp, map[string]asyncOp) {
	return nil, map[string]asyncOp{"dns.lookup": lookupName}
}

// lookupName implements dns.lookup(name, family), with family 0, 4 or 6: it returns addresses in the order of the
// system's resolver.
func lookupName(ctx context.Context, _ *Engine, args []any) (any, error) {
	name := arg[string](args, 0)
	network := map[int64]string{4: "ip4", 6: "ip6"}[intArg(args, 1)]
	if network == "" {
		network = "ip"
	}
	found, err := net.DefaultResolver.LookupIP(ctx, network, name)
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
