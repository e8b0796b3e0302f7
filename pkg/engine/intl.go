package engine

import (
	"fmt"
	"sync"

	"modernc.org/quickjs"
	"modernc.org/quickjs/intl"
)

// An intlVM is what formats dates and numbers, in a VM of its own: the package that does it brings the same engine in a wrapper,
// which must not see ours. It is made when Intl is first touched, which is seldom.
type intlVM struct {
	once sync.Once
	vm   *quickjs.VM
	err  error

	collators collators // need no VM
}

// intlCall is intl.call(request): JSON in, JSON out. Formatters are kept by what they were made of, to a number.
const intlCall = `globalThis.intlCall = ((kept) => (text) => {
  const { kind, locales, options, method, args } = JSON.parse(text);
  const read = ([type, value]) => (type === "bigint" ? BigInt(value) : type === "number" ? Number(value) : undefined);
  try {
    const key = JSON.stringify([kind, locales, options]);
    if (kept.size > 100) kept.clear();
    if (!kept.has(key)) kept.set(key, new Intl[kind](locales ?? undefined, options ?? undefined));
    return JSON.stringify({ result: kept.get(key)[method](...args.map(read)) });
  } catch (error) {
    return JSON.stringify({ name: error.name, message: error.message });
  }
})(new Map())`

func intlOps() (map[string]op, map[string]job) {
	return map[string]op{
		"intl.call": func(e *Engine, args []any) (any, error) { return e.intl.call(args[0]) },
		"intl.collator": func(e *Engine, args []any) (any, error) {
			return e.intl.collators.number(arg[string](args, 0), arg[string](args, 1), arg[bool](args, 2), arg[bool](args, 3), arg[string](args, 4))
		},
		"intl.compare": func(e *Engine, args []any) (any, error) {
			return float64(e.intl.collators.made[intArg(args, 0)].compare(arg[string](args, 1), arg[string](args, 2))), nil
		},
		"intl.locale": func(_ *Engine, args []any) (any, error) {
			name, collates, err := languageFacts(arg[string](args, 0))
			return map[string]any{"name": name, "collates": collates}, err
		},
	}, nil
}

func (i *intlVM) call(request any) (any, error) {
	i.once.Do(func() { i.err = i.open() })
	if i.err != nil {
		return nil, i.err
	}
	return i.vm.Call("intlCall", request)
}

func (i *intlVM) open() error {
	vm, err := quickjs.NewVM()
	if err != nil {
		return fmt.Errorf("start what formats dates and numbers: %w", err)
	}
	i.vm = vm
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
