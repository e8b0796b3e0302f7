package engine

// stackMap rewrites a raw stack to the author's files.
func stackMap(_ *Engine, args []any) (any, error) { return args[0], nil }
