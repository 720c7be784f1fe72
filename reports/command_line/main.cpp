// The program `tally`.
#include <iostream>

int main() {
  std::cerr << "tally: no command\n";
  return 2;
}
