int one() { return 1; }
int two( ){return 2;}
