package report

import "io"

// JSON writes v as one line of JSON in which a terminal finds nothing to obey.
func JSON(w io.Writer, v any) error {
	line, err := jsonLine(v)
	if err != nil {
		return err
	}
	_, err = w.Write(line)
	return err
}
