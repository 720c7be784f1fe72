// Looks a kind up.
// (good.1)  y = x, where it is defined.
