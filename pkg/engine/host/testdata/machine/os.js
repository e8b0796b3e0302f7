const os = require("node:os");
await show("os", () => [os.EOL, os.platform(), os.arch(), os.type(), os.hostname(), os.homedir(), os.tmpdir(), os.cpus().length, os.availableParallelism(), os.endianness(), os.devNull, os.release(), os.totalmem(), os.machine(), os.version(), `${os.platform}`, typeof os.uptime(), typeof os.freemem(), os.loadavg().length, os.constants.signals.SIGTERM, os.constants.errno.ENOENT]);
await show("user", () => os.userInfo());
