package redact

import "io"

// Writer returns a writer that writes redacted text to w. It also finds a secret that is split over several writes,
// and therefore delays what may be the beginning of one. Close writes the rest and does not close w.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser {
	if r.isZero() {
		return nopCloser{w}
	}
	return &writer{w: w, scanner: scanner{r: r}}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

type writer struct {
	w       io.Writer
	scanner scanner
	held    []byte // received and not written yet, from the offset settled on
	settled int    // number of received bytes that were written or replaced
	out     []byte
	err     error
}

func (w *writer) Write(b []byte) (int, error) {
	if w.err != nil || len(b) == 0 {
		return len(b), w.err
	}
	w.scanner.scan(b)
	to := w.scanner.settledLength()
	if len(w.held) == 0 && len(w.scanner.matches) == 0 && to == w.scanner.read {
		w.settled = to
		_, w.err = w.w.Write(b) // without copying it
		return len(b), w.err
	}
	w.held = append(w.held, b...)
	w.flush(to)
	return len(b), w.err
}

func (w *writer) Close() error {
	w.scanner.close()
	w.flush(w.scanner.read)
	return w.err
}

// flush writes what is held before the offset to.
func (w *writer) flush(to int) {
	w.out = w.scanner.replace(w.out[:0], w.held, w.settled, to)
	w.held = append(w.held[:0], w.held[to-w.settled:]...)
	w.settled = to
	if len(w.out) > 0 && w.err == nil {
		_, w.err = w.w.Write(w.out)
	}
}
