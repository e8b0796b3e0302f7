enum Colour { Red = 42 }
console.log(Colour.Red);
