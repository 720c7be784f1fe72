// What is wrong with a case, gathered so that one reading reports everything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oracle/case/io.hpp"

namespace tally {

class Findings {
 public:
  /// Something is wrong, but what stands at `path` can still be used to judge the rest.
  void add(std::string path, std::string found, std::string expected);
  /// What stands at `path` cannot be used: rules that need it do not run.
  void add_broken(std::string path, std::string found, std::string expected);

  /// Nothing at, above or below this path is broken. Nothing is sound once the findings are full.
  bool sound(std::string_view path) const;
  bool empty() const { return errors_.empty(); }
  const std::vector<CaseError>& errors() const { return errors_; }

 private:
  static constexpr std::size_t most_findings = 1000;
  bool full() const { return errors_.size() >= most_findings; }

  std::vector<CaseError> errors_;
  std::vector<std::string> broken_;
};

/// `"a", "b", "c"` for messages.
std::string quoted_list(const std::vector<std::string>& words);

}  // namespace tally
