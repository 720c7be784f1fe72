// none
#include <string>
#include <vector>

std::size_t letters(const std::vector<std::string>& names) {
  std::size_t sum = 0;
  for (const std::string& name : names) sum += name.size();
  return sum;
}
