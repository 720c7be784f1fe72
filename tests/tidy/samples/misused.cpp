// bugprone-use-after-move modernize-use-override performance-unnecessary-value-param misc-redundant-expression
#include <string>
#include <utility>
#include <vector>

struct Shape {
  virtual ~Shape() = default;
  virtual int sides() const = 0;
};

struct Square : Shape {
  virtual int sides() const { return 4; }
};

std::size_t lost(std::vector<std::string>& kept, std::string name) {
  kept.push_back(std::move(name));
  return name.size();
}

std::size_t copied(std::vector<std::string> names) { return names.size(); }

bool either(bool a) { return a || a; }
