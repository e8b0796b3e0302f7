//go:build unix

package spawn

import "os"

// CanPipe says whether a program gets its two pipes.
const CanPipe = true

// wrapper outlives the program and whatever end we come to, to remove the folder. It must not keep the pipes open, since the program
// ends when we let go of them; the signals that it survives reach the program as they are. What the program started may still be
// writing for a moment.
const wrapper = `trap : HUP INT QUIT TERM
folder=$1
shift
"$@" &
program=$!
exec 3<&- 4>&-
while :; do
	wait "$program"
	code=$?
	kill -0 "$program" 2>/dev/null || break
done
tries=0
until rm -rf -- "$folder" 2>/dev/null || [ "$tries" -eq 50 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
exit "$code"`

// wrap adds the pipes and the wrapper to a plan.
func (p *plan) wrap() (in, out *os.File, err error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		_, _ = theirIn.Close(), in.Close()
		return nil, nil, err
	}
	p.extra = []*os.File{theirIn, theirOut}
	p.prefix = []string{"/bin/sh", "-c", wrapper, "trailblaze", p.folder}
	return in, out, nil
}
