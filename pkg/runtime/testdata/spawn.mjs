import { spawn } from "node:child_process";
spawn("no-such-command-anywhere");
