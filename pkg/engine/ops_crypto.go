package engine

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"crypto/subtle"
	"encoding"
	"encoding/binary"
	"fmt"
	"hash"
	"strings"
)

// maxRounds is how often a derivation of a key may hash: some seconds' worth.
const maxRounds = 20_000_000

// cryptoOps hash, derive keys and give random bytes. A hash that goes on is handed over as its state, so that nothing is open.
func cryptoOps() (map[string]op, map[string]job) {
	ops := map[string]op{
		"crypto.hash":   hashBytes,
		"crypto.begin":  beginHash,
		"crypto.update": updateHash,
		"crypto.digest": digestHash,
		"crypto.random": randomBytes,
		"crypto.uuid":   randomUUID,
		"crypto.equal":  equalBytes,
		"crypto.pbkdf2": func(e *Engine, args []any) (any, error) { return derivePBKDF2(e.ctx, e, args) },
		"crypto.hkdf":   deriveHKDF,
	}
	jobs := map[string]job{
		"crypto.pbkdf2": inTurn(derivePBKDF2),
	}
	return ops, jobs
}

// newHash finds a hash by the name that node has for it, in lower case; nil when there is none.
func newHash(name string) func() hash.Hash {
	switch strings.ToLower(name) {
	case "md5":
		return md5.New
	case "sha1", "sha-1":
		return sha1.New
	case "sha224", "sha-224":
		return sha256.New224
	case "sha256", "sha-256":
		return sha256.New
	case "sha384", "sha-384":
		return sha512.New384
	case "sha512", "sha-512":
		return sha512.New
	case "sha512-224":
		return sha512.New512_224
	case "sha512-256":
		return sha512.New512_256
	case "sha3-256":
		return func() hash.Hash { return sha3.New256() }
	case "sha3-384":
		return func() hash.Hash { return sha3.New384() }
	case "sha3-512":
		return func() hash.Hash { return sha3.New512() }
	}
	return nil
}

// hashBytes is (algorithm, data); nil when there is no such hash.
func hashBytes(_ *Engine, args []any) (any, error) {
	algorithm := newHash(arg[string](args, 0))
	if algorithm == nil {
		return nil, nil
	}
	h := algorithm()
	h.Write(arg[[]byte](args, 1))
	return h.Sum(nil), nil
}

// beginHash is (algorithm): the size of its blocks, which HMAC needs, and that of its sums; nil when there is no such hash.
func beginHash(_ *Engine, args []any) (any, error) {
	algorithm := newHash(arg[string](args, 0))
	if algorithm == nil {
		return nil, nil
	}
	h := algorithm()
	return []any{float64(h.BlockSize()), float64(h.Size())}, nil
}

// updateHash is (algorithm, state or nil, data): the state after it.
func updateHash(_ *Engine, args []any) (any, error) {
	h, err := resume(args)
	if err != nil {
		return nil, err
	}
	h.Write(arg[[]byte](args, 2))
	return h.(encoding.BinaryMarshaler).MarshalBinary() //nolint:errcheck // all that newHash knows are
}

// digestHash is (algorithm, state or nil, the last data).
func digestHash(_ *Engine, args []any) (any, error) {
	h, err := resume(args)
	if err != nil {
		return nil, err
	}
	h.Write(arg[[]byte](args, 2))
	return h.Sum(nil), nil
}

func resume(args []any) (hash.Hash, error) {
	name := arg[string](args, 0)
	algorithm := newHash(name)
	if algorithm == nil {
		return nil, fmt.Errorf("there is no hash %q", name)
	}
	h := algorithm()
	state := arg[[]byte](args, 1)
	if state == nil {
		return h, nil
	}
	return h, h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state) //nolint:errcheck // all that newHash knows are
}

// randomBytes is (how many).
func randomBytes(_ *Engine, args []any) (any, error) {
	n := intArg(args, 0)
	if n < 0 || n > maxBytes {
		return nil, tooMuch("the random bytes", maxBytes)
	}
	data := make([]byte, n)
	_, _ = rand.Read(data) // it never fails
	return data, nil
}

func randomUUID(*Engine, []any) (any, error) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6] = b[6]&0x0F | 0x40
	b[8] = b[8]&0x3F | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}

func equalBytes(_ *Engine, args []any) (any, error) {
	return subtle.ConstantTimeCompare(arg[[]byte](args, 0), arg[[]byte](args, 1)) == 1, nil
}

// derivePBKDF2 is (algorithm, password, salt, rounds, bytes).
func derivePBKDF2(ctx context.Context, _ *Engine, args []any) (any, error) {
	algorithm := newHash(arg[string](args, 0))
	if algorithm == nil {
		return nil, nil
	}
	rounds, size := intArg(args, 3), intArg(args, 4)
	if rounds < 1 || size < 0 || size > maxBytes || rounds > maxRounds/(1+size/int64(algorithm().Size())) {
		return nil, &hostError{Code: "ERR_OUT_OF_RANGE", Name: "RangeError", Message: fmt.Sprintf(
			"PBKDF2 with %d iterations for %d bytes is more than the embedded engine takes on; install bun (https://bun.sh) or node", rounds, size)}
	}
	mac := hmac.New(algorithm, arg[[]byte](args, 1))
	var key []byte
	for block := uint32(1); len(key) < int(size); block++ {
		mac.Reset()
		mac.Write(arg[[]byte](args, 2))
		mac.Write(binary.BigEndian.AppendUint32(nil, block))
		sum, err := rehash(ctx, mac, mac.Sum(nil), int(rounds))
		if err != nil {
			return nil, err
		}
		key = append(key, sum...)
	}
	return key[:size], nil
}

// rehash is PBKDF2's sum of what comes of hashing again and again. The standard library's cannot be ended.
func rehash(ctx context.Context, mac hash.Hash, last []byte, rounds int) ([]byte, error) {
	sum := bytes.Clone(last)
	for round := 1; round < rounds; round++ {
		if round%1000 == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("derive a key: %w", ctx.Err())
		}
		mac.Reset()
		mac.Write(last)
		last = mac.Sum(last[:0])
		subtle.XORBytes(sum, sum, last)
	}
	return sum, nil
}

// deriveHKDF is (algorithm, key, salt, info, bytes).
func deriveHKDF(_ *Engine, args []any) (any, error) {
	algorithm := newHash(arg[string](args, 0))
	if algorithm == nil {
		return nil, nil
	}
	size := intArg(args, 4)
	if size < 0 || size > 255*int64(algorithm().Size()) {
		return nil, &hostError{Code: "ERR_CRYPTO_INVALID_KEYLEN", Name: "RangeError", Message: "Invalid key length"}
	}
	return hkdf.Key(algorithm, arg[[]byte](args, 1), arg[[]byte](args, 2), string(arg[[]byte](args, 3)), int(size))
}

func tooMuch(what string, limit int64) error {
	return &hostError{Code: "ERR_OUT_OF_RANGE", Name: "RangeError", Message: fmt.Sprintf(
		"%s are more than the %d MiB that the embedded engine handles at once", what, limit>>20)}
}
