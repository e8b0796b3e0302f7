console.log(Bun.version);
