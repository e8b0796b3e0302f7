package spawn

import (
	"os"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/spawn/internal/proc"
)

// descendants returns the running processes that certainly descend from leader: the members of its process group, and
// on Linux those of its session and those that have a pipe of its stdout or stderr open. After the leader has exited,
// the system may reuse the ids of its group and session. Their members are then returned only if one of them has the
// run's id in its environment. leader may be the zero value.
func descendants(leader proc.ID, inodes []uint64, runID string) []proc.ID {
	found := proc.Holders(inodes)
	if leader.PID <= 1 {
		return found
	}
	members := proc.Members(leader.PID)
	ofRun := func(id proc.ID) bool { return runID != "" && id.HasEnv(runID) }
	if !leader.Running() && !slices.ContainsFunc(members, ofRun) {
		return found
	}
	for _, id := range members {
		if !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	return found
}

// daemonsOf returns the running processes that have the id of a killed run in their environment: all that its servers
// started, even with sessions of their own and without the servers' pipes. It leaves out programs with the names in
// keep. It returns nil if this process was itself started by that run.
func daemonsOf(runID string, keep []string) []proc.ID {
	if !strings.HasPrefix(runID, runIDVariable) || proc.Find(os.Getpid()).HasEnv(runID) {
		return nil
	}
	return slices.DeleteFunc(proc.All(), func(id proc.ID) bool { return !id.HasEnv(runID) || isNamed(id, keep) })
}

// killUntilGone kills what find returns, repeatedly, because processes may start others meanwhile. It returns the
// processes that are left at the deadline.
func killUntilGone(deadline time.Time, find func() []proc.ID) []proc.ID {
	const pause = time.Millisecond
	for {
		found := find()
		if len(found) == 0 || time.Now().After(deadline) {
			return found
		}
		for _, id := range found {
			id.Kill()
		}
		<-time.After(pause)
	}
}

// killDescendants kills what p started and left running, until nothing is found or the deadline has passed.
func killDescendants(p *Process, deadline time.Time) {
	if p.entry == nil {
		return
	}
	killUntilGone(deadline, func() []proc.ID { return descendants(p.entry.ID, p.inodes, p.runID) })
}
