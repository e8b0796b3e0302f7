package engine

import (
	"fmt"
	"sync"

	"modernc.org/quickjs"
	"modernc.org/quickjs/intl"
)

// An intlVM formats dates and numbers with the package modernc.org/quickjs/intl. It has a VM of its own, because the
// package needs a QuickJS that it created itself. The VM is started when a script first uses Intl.
type intlVM struct {
	once sync.Once
	vm   *quickjs.VM
	err  error

	collators collators // do not use the VM
}

// intlCall is the script that defines intlCall(request), which implements intl.call: the request and the result are
// JSON. It caches up to 100 formatters by their arguments.
const intlCall = `globalThis.intlCall = ((cache) => (text) => {
  const { kind, locales, options, method, args } = JSON.parse(text);
  const read = ([type, value]) => (type === "bigint" ? BigInt(value) : type === "number" ? Number(value) : undefined);
  try {
    const key = JSON.stringify([kind, locales, options]);
    if (cache.size > 100) cache.clear();
    if (!cache.has(key)) cache.set(key, new Intl[kind](locales ?? undefined, options ?? undefined));
    return JSON.stringify({ result: cache.get(key)[method](...args.map(read)) });
  } catch (error) {
    return JSON.stringify({ name: error.name, message: error.message });
  }
})(new Map())`

func intlOps() (syncOps, asyncOps opTable) {
	return opTable{
		"intl.call":     func(c *call) (any, error) { return c.intl.call(arg[string](c.args, 0)) },
		"intl.collator": newCollatorNumber,
		"intl.compare":  compareStrings,
		"intl.locale": func(c *call) (any, error) {
			name, collates, err := describeLocale(arg[string](c.args, 0))
			return map[string]any{"name": name, "collates": collates}, err
		},
	}, nil
}

// maxIntlRequest is the size limit of a request in bytes, of which the VM stores up to 100. intlMemoryLimit is the
// memory limit of the VM in bytes.
const (
	maxIntlRequest  = 64 << 10
	intlMemoryLimit = 64 << 20
)

func (i *intlVM) call(request string) (any, error) {
	if len(request) > maxIntlRequest {
		return nil, tooLargeError("the size of the options", maxIntlRequest)
	}
	i.once.Do(func() { i.err = i.start() })
	if i.err != nil {
		return nil, i.err
	}
	return i.vm.Call("intlCall", request)
}

func (i *intlVM) start() error {
	vm, err := quickjs.NewVM()
	if err != nil {
		return fmt.Errorf("start the VM of Intl: %w", err)
	}
	i.vm = vm
	vm.SetMemoryLimit(intlMemoryLimit)
	if err := intl.Register(vm); err != nil {
		return fmt.Errorf("load Intl: %w", err)
	}
	_, err = vm.Eval(intlCall+";0", quickjs.EvalGlobal)
	return err
}

func (i *intlVM) close() {
	if i.vm != nil {
		_ = i.vm.Close()
	}
}
