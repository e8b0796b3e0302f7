const answer: number = await Promise.resolve(42);
console.log(answer);
