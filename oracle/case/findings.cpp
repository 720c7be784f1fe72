#include "oracle/case/findings.hpp"

#include <utility>

namespace tally {
namespace {

std::string line_of(const std::vector<CaseError>& errors) {
  if (errors.empty()) return "invalid case";
  const CaseError& first = errors.front();
  const std::string more = errors.size() == 1 ? "" : " (and " + std::to_string(errors.size() - 1) + " more)";
  return first.path + ": found " + first.found + ", expected " + first.expected + more;
}

}  // namespace

InvalidCase::InvalidCase(std::vector<CaseError> errors)
    : std::runtime_error(line_of(errors)), errors_(std::move(errors)) {}

void Findings::add(std::string path, std::string found, std::string expected) {
  if (full()) return;
  if (errors_.size() + 1 == most_findings) {
    path = "$", found = std::to_string(most_findings) + " errors and perhaps more", expected = "none";
  }
  errors_.push_back({std::move(path), std::move(found), std::move(expected)});
}

void Findings::add_broken(std::string path, std::string found, std::string expected) {
  if (!full()) broken_.push_back(path);
  add(std::move(path), std::move(found), std::move(expected));
}

bool Findings::sound(std::string_view path) const {
  if (full()) return false;
  const auto within = [](std::string_view inner, std::string_view outer) {
    return inner.starts_with(outer) &&
           (inner.size() == outer.size() || inner[outer.size()] == '.' || inner[outer.size()] == '[');
  };
  for (const std::string& broken : broken_)
    if (within(broken, path) || within(path, broken)) return false;
  return true;
}

std::string quoted_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "\"" : ", \"") + word + "\"";
  return text;
}

}  // namespace tally
