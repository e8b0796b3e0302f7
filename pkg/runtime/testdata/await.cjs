await Promise.resolve(42);
