package report

import "io"

// JSON writes v as one line of JSON without control characters.
func JSON(w io.Writer, v any) error {
	line, err := jsonLine(v)
	if err != nil {
		return err
	}
	_, err = w.Write(line)
	return err
}
