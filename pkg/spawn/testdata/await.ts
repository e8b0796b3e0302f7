const value: number = await Promise.resolve(1);
console.error(value);
