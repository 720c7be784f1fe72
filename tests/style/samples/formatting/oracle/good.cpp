int one() { return 1; }
