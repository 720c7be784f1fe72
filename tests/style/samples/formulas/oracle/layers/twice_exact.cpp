// (twice.1)  y = x
// (twice.1)  y = x + 0
