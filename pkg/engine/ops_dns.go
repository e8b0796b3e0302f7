package engine

import (
	"context"
	"errors"
	"net"
)

// nameOps look names up.
func nameOps() (map[string]op, map[string]job) {
	return nil, map[string]job{"dns.lookup": lookupName}
}

// lookupName is (name, family: 0, 4 or 6): addresses, in the order of the system.
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
