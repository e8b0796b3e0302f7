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

// maxIterations is the largest number of hash computations in one derivation of a key: some seconds of work.
const maxIterations = 20_000_000

// cryptoOps returns the operations for hashes, derived keys and random bytes. An incremental hash is passed as its
// serialized state, so that it needs no handle.
func cryptoOps() (syncOps, asyncOps opTable) {
	ops := opTable{
		"crypto.hash":     hashBytes,
		"crypto.describe": describeHash,
		"crypto.update":   updateHash,
		"crypto.digest":   digestHash,
		"crypto.random":   randomBytes,
		"crypto.uuid":     randomUUID,
		"crypto.equal":    equalBytes,
		"crypto.pbkdf2":   derivePBKDF2,
		"crypto.hkdf":     deriveHKDF,
	}
	jobs := opTable{
		"crypto.pbkdf2": withComputeSlot(derivePBKDF2),
	}
	return ops, jobs
}

// newHash returns the constructor of a hash by node's name for it, ignoring case; nil when it is unknown.
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

// hashBytes implements crypto.hash(algorithm, data); it returns nil when the algorithm is unknown.
func hashBytes(c *call) (any, error) {
	algorithm := newHash(arg[string](c.args, 0))
	if algorithm == nil {
		return nil, nil
	}
	h := algorithm()
	h.Write(arg[[]byte](c.args, 1))
	return h.Sum(nil), nil
}

// describeHash implements crypto.describe(algorithm): it returns [block size, digest size] in bytes, nil when the
// algorithm is unknown.
func describeHash(c *call) (any, error) {
	algorithm := newHash(arg[string](c.args, 0))
	if algorithm == nil {
		return nil, nil
	}
	h := algorithm()
	return []any{float64(h.BlockSize()), float64(h.Size())}, nil
}

// updateHash implements crypto.update(algorithm, state or nil, data): it returns the new state.
func updateHash(c *call) (any, error) {
	h, err := resumeHash(c.args)
	if err != nil {
		return nil, err
	}
	h.Write(arg[[]byte](c.args, 2))
	return h.(encoding.BinaryMarshaler).MarshalBinary() //nolint:errcheck // every hash of newHash implements it
}

// digestHash implements crypto.digest(algorithm, state or nil, data): it returns the digest after data.
func digestHash(c *call) (any, error) {
	h, err := resumeHash(c.args)
	if err != nil {
		return nil, err
	}
	h.Write(arg[[]byte](c.args, 2))
	return h.Sum(nil), nil
}

// resumeHash returns a hash with the state of args[1], if there is one.
func resumeHash(args []any) (hash.Hash, error) {
	name := arg[string](args, 0)
	algorithm := newHash(name)
	if algorithm == nil {
		return nil, fmt.Errorf("unknown hash %q", name)
	}
	h := algorithm()
	state := arg[[]byte](args, 1)
	if state == nil {
		return h, nil
	}
	return h, h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state) //nolint:errcheck // every hash of newHash implements it
}

// randomBytes implements crypto.random(count).
func randomBytes(c *call) (any, error) {
	n := intArg(c.args, 0)
	if n < 0 || n > maxValueBytes {
		return nil, tooLargeError("size", maxValueBytes)
	}
	c.reserve(int(n))
	data := make([]byte, n)
	_, _ = rand.Read(data) // it never fails
	return data, nil
}

func randomUUID(*call) (any, error) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6] = b[6]&0x0F | 0x40
	b[8] = b[8]&0x3F | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}

func equalBytes(c *call) (any, error) {
	return subtle.ConstantTimeCompare(arg[[]byte](c.args, 0), arg[[]byte](c.args, 1)) == 1, nil
}

// derivePBKDF2 implements crypto.pbkdf2(algorithm, password, salt, iterations, size).
func derivePBKDF2(c *call) (any, error) {
	algorithm := newHash(arg[string](c.args, 0))
	if algorithm == nil {
		return nil, nil
	}
	iterations, size := intArg(c.args, 3), intArg(c.args, 4)
	if iterations < 1 || size < 0 || size > maxValueBytes || iterations > maxIterations/(1+size/int64(algorithm().Size())) {
		return nil, &hostError{Code: "ERR_OUT_OF_RANGE", Name: "RangeError", Message: fmt.Sprintf(
			"PBKDF2 with %d iterations for %d bytes exceeds the limit of the embedded engine; install bun (https://bun.sh) or node",
			iterations, size)}
	}
	mac := hmac.New(algorithm, arg[[]byte](c.args, 1))
	c.reserve(int(size) + mac.Size())
	key := make([]byte, 0, int(size)+mac.Size())
	for block := uint32(1); len(key) < int(size); block++ {
		mac.Reset()
		mac.Write(arg[[]byte](c.args, 2))
		mac.Write(binary.BigEndian.AppendUint32(nil, block))
		sum, err := pbkdf2Block(c.ctx, mac, mac.Sum(nil), int(iterations))
		if err != nil {
			return nil, err
		}
		key = append(key, sum...)
	}
	return key[:size], nil
}

// pbkdf2Block returns one block of PBKDF2, given its first iteration. Unlike crypto/pbkdf2 it can be cancelled.
func pbkdf2Block(ctx context.Context, mac hash.Hash, last []byte, iterations int) ([]byte, error) {
	sum := bytes.Clone(last)
	for i := 1; i < iterations; i++ {
		if i%1000 == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("derive a key: %w", ctx.Err())
		}
		mac.Reset()
		mac.Write(last)
		last = mac.Sum(last[:0])
		subtle.XORBytes(sum, sum, last)
	}
	return sum, nil
}

// deriveHKDF implements crypto.hkdf(algorithm, key, salt, info, size).
func deriveHKDF(c *call) (any, error) {
	algorithm := newHash(arg[string](c.args, 0))
	if algorithm == nil {
		return nil, nil
	}
	size := intArg(c.args, 4)
	if size < 0 || size > 255*int64(algorithm().Size()) {
		return nil, &hostError{Code: "ERR_CRYPTO_INVALID_KEYLEN", Name: "RangeError", Message: "Invalid key length"}
	}
	return hkdf.Key(algorithm, arg[[]byte](c.args, 1), arg[[]byte](c.args, 2), string(arg[[]byte](c.args, 3)), int(size))
}
