// Looks a kind up.
