// What is wrong with a trace's file, gathered so that one reading reports everything.
#pragma once

#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace tally {

/// what() is the first finding behind the file's name, with "(and 3 more)" where there are more.
class InvalidTrace : public std::runtime_error {
 public:
  InvalidTrace(const std::string& line, std::vector<std::string> further)
      : std::runtime_error(line), further_(std::move(further)) {}
  /// A line each of the others; the last one counts those that are not named.
  const std::vector<std::string>& further() const { return further_; }

 private:
  std::vector<std::string> further_;
};

class TraceFindings {
 public:
  static constexpr std::size_t most_named = 20;
  explicit TraceFindings(std::filesystem::path file) : file_(std::move(file)) {}

  void add(std::string finding);
  /// What `read` returns; nothing, and a finding, where it throws std::runtime_error.
  template <class Read>
  auto read(Read read) -> decltype(read()) {
    try {
      return read();
    } catch (const std::runtime_error& problem) {
      add(problem.what());
      return {};
    }
  }
  /// Throws InvalidTrace where anything was found.
  void require_none() const;

 private:
  std::filesystem::path file_;
  std::vector<std::string> named_;
  std::size_t count_ = 0;
};

}  // namespace tally
