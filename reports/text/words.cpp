#include "reports/text/words.hpp"

#include <algorithm>

namespace tally {

const char* mark_of(Status status) {
  switch (status) {
    case Status::pass:
      return "\u2713";
    case Status::fail:
      return "\u2717";
    case Status::vacuous:
      return "\u25CB";
    case Status::not_run:
      return "\u2013";
    case Status::error:
      break;
  }
  return "\u203C";
}

const char* shown_word_of(Status status) {
  switch (status) {
    case Status::pass:
      return "pass";
    case Status::fail:
      return "FAIL";
    case Status::vacuous:
      return "vacuous";
    case Status::not_run:
      return "not run";
    case Status::error:
      break;
  }
  return "ERROR";
}

std::string mark_and_word(Status status) { return std::string(mark_of(status)) + " " + shown_word_of(status); }

std::string class_of(Status status) { return std::string(word_of(status)); }

std::string failure_word(FailureClass c) {
  if (c == FailureClass::none) return "";
  std::string word(word_of(c));
  std::replace(word.begin(), word.end(), '_', ' ');
  return word;
}

}  // namespace tally
