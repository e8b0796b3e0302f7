//go:build unix

package spawn

import "os"

// CanPipe reports whether a program gets its two pipes.
const CanPipe = true

// wrapper is a shell script that runs the program and outlives it, to remove the folder. It closes its copies of the
// pipes, since the program ends when this process closes its ends. Signals reach the program directly, as a member of
// the group. What the program started may go on writing for a moment, so that removing is tried for five seconds, with
// programs of the system: the PATH of the program may lack them.
const wrapper = `trap : HUP INT QUIT TERM
folder=$1
shift
"$@" &
program=$!
exec 3<&- 4>&-
PATH=/usr/bin:/bin:$PATH
while :; do
	wait "$program"
	code=$?
	kill -0 "$program" 2>/dev/null || break
done
tries=0
until [ -z "$folder" ] || rm -rf -- "$folder" 2>/dev/null || [ "$tries" -eq 50 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
exit "$code"`

// addPipes adds the pipes and the wrapper to a plan.
func (p *plan) addPipes() (in, out *os.File, err error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		_, _ = theirIn.Close(), in.Close()
		return nil, nil, err
	}
	p.files = []*os.File{theirIn, theirOut}
	p.prefix = []string{"/bin/sh", "-c", wrapper, "trailblaze", p.folder}
	return in, out, nil
}
