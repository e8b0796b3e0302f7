// A server that forgets a child which is in a session of its own and holds all our pipes.
import { spawn } from "node:child_process";
spawn("sh", ["-c", "trap '' TERM HUP; while :; do sleep 3600; done"], { detached: true, stdio: "inherit" }).unref();
process.stdin.resume();
