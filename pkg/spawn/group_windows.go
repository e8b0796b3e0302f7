package spawn

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job: what a server starts belongs to it, and is killed when the last handle to it is closed, which is this
// one.
type group struct {
	job windows.Handle
	pid int
}

// setGroup has the process start suspended, until it is in the job. A console group of its own keeps the console's
// Ctrl-C from it.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP,
		CmdLine:       shellCommandLine(cmd.Args),
	}
}

// setDetached has the process start with a console of its own that has no window. Without a console, each program that
// it starts would open a window, and could not receive CTRL_BREAK.
func setDetached(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP}
}

// groupOf puts a process in a job. With daemon, what it starts does not belong to the job.
func groupOf(cmd *exec.Cmd, daemon bool) (group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return group{}, os.NewSyscallError("CreateJobObject", err)
	}
	g := group{job, cmd.Process.Pid}
	if err := errors.Join(g.assign(daemon), resume(g.pid)); err != nil {
		g.kill()
		g.close()
		return group{}, err
	}
	return g, nil
}

func (g group) assign(daemon bool) error {
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
		LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
	}}
	if daemon {
		limits.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK
	}
	_, err := windows.SetInformationJobObject(g.job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		return os.NewSyscallError("SetInformationJobObject", err)
	}
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(g.pid))
	if err != nil {
		return os.NewSyscallError("OpenProcess", err)
	}
	defer func() { _ = windows.CloseHandle(process) }()
	return os.NewSyscallError("AssignProcessToJobObject", windows.AssignProcessToJobObject(g.job, process))
}

// resume resumes a suspended process, which has one thread.
func resume(pid int) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return os.NewSyscallError("CreateToolhelp32Snapshot", err)
	}
	defer func() { _ = windows.CloseHandle(snapshot) }()
	resumed := false
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID != uint32(pid) {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return os.NewSyscallError("OpenThread", err)
		}
		_, err = windows.ResumeThread(thread)
		_ = windows.CloseHandle(thread)
		if err != nil {
			return os.NewSyscallError("ResumeThread", err)
		}
		resumed = true
	}
	if !resumed {
		return fmt.Errorf("no thread of the suspended process was found: %w", err)
	}
	return nil
}

func (g group) terminate() {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(g.pid))
}

func (g group) kill() { _ = windows.TerminateJobObject(g.job, 1) }

// close closes the job once its processes, which were killed, have ended: their files cannot be removed before.
func (g group) close() {
	const limit, pause = 5 * time.Second, 5 * time.Millisecond
	for deadline := time.Now().Add(limit); g.active() > 0 && time.Now().Before(deadline); {
		<-time.After(pause)
	}
	_ = windows.CloseHandle(g.job)
}

// active returns how many processes of the job have not ended.
func (g group) active() uint32 {
	var info struct { // JOBOBJECT_BASIC_ACCOUNTING_INFORMATION
		_      [4]int64  // times
		_      [2]uint32 // page faults, processes since the start
		active uint32
		_      uint32 // processes that a limit has ended
	}
	err := windows.QueryInformationJobObject(g.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	if err != nil {
		return 0
	}
	return info.active
}

// signalOf returns "": there are no signals.
func signalOf(*os.ProcessState) string { return "" }

// inodesOf returns nothing: a job leaves no process that holds a pipe.
func inodesOf(...*os.File) []uint64 { return nil }
