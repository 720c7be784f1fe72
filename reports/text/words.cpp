// Records in words, and the commands that run a case again.
#include "reports/text/words.hpp"

#include <algorithm>
#include <cmath>

#include "reports/record/json.hpp"
#include "reports/text/text.hpp"

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

std::string smallest_caught_word(const FaultRecord& fault) {
  const double smallest = fault.smallest_caught;
  if (!(smallest > 0)) return "\u2013";
  return smallest == 1 ? "1" : "2^" + std::to_string(std::ilogb(smallest));
}

std::string shell_word(const std::string& word) {
  const std::string plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/+=@%,";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string text;
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + text + "'";
}

namespace {

std::string option(const char* name, const std::string& value) {
  return value.empty() ? "" : std::string(" ") + name + " " + shell_word(value);
}

std::string planted(const std::string& fault, double magnitude) {
  if (fault.empty()) return "";
  return option("--fault", fault) + (magnitude == 1 ? "" : option("--magnitude", json_of_number(magnitude).dump()));
}

}  // namespace

std::string subject_options(const Environment& ran) {
  std::string options = option("--subject", ran.executor) + planted(ran.fault, ran.magnitude);
  for (const std::string& kernel : ran.kernels) options += option("--kernel", kernel);
  return options;
}

std::string replay_command(const std::string& token) {
  return token.empty() ? "" : "./tally replay " + shell_word(token);
}

std::string replay_command(const CaseRecord& c, const Environment& ran) {
  const std::string command = replay_command(c.token);
  return command.empty() ? "" : command + option("--law", c.law) + subject_options(ran);
}

std::string replay_command(const FaultRecord& fault, const Environment& ran) {
  const std::string command = replay_command(fault.token);
  if (command.empty()) return "";
  return command + option("--law", fault.law) + option("--subject", ran.executor) +
         planted(fault.name, fault.magnitude);
}

namespace {

std::string value_line(const char* name, double value) {
  return "   |   " + std::string(name) + shortest(value) + "  " + hexadecimal_text(value) + "\n";
}

std::string tensor_text(const TensorCheck& t) {
  std::string text = "   | " + one_line(t.tap) + ", " + one_line(t.lens) + " lens, stage " + one_line(t.stage);
  if (!t.worst_index.empty()) text += ", element " + index_text(t.worst_index);
  if (!t.place.empty()) text += ", " + one_line(t.place);
  if (!t.message.empty()) return text + "\n   |   " + one_line(t.message) + "\n";
  text += "\n   |   census    " + census_text(t) + "\n";
  text += value_line("expected  ", t.expected) + value_line("got       ", t.got);
  return text + "   |   error     " + significant(t.error) + ", bound " + bound_text(t) +
         ", r = " + significant(t.worst_ratio) + "\n";
}

std::string kind_line(const CaseRecord& c) {
  std::string text;
  if (const std::string kind = failure_word(c.failure); !kind.empty()) text += "kind: " + kind;
  if (!c.first_stage.empty())
    text += (text.empty() ? "" : "; ") + ("first stage that fails: " + one_line(c.first_stage));
  if (!c.kernel.empty()) text += (text.empty() ? "" : "; ") + ("kernel: " + one_line(c.kernel));
  return text.empty() ? "" : "   | " + text + "\n";
}

}  // namespace

std::string census_text(const TensorCheck& t) {
  return counted(t.elements, "element") + ", " + grouped(t.differing) + " differ, " + grouped(t.over_bound) +
         " over bound, " + grouped(t.non_finite) + " not finite";
}

std::string index_text(const std::vector<std::int64_t>& index) {
  std::string text;
  for (const std::int64_t i : index) text += (text.empty() ? "[" : ", ") + std::to_string(i);
  return text.empty() ? "" : text + "]";
}

std::string bound_text(const TensorCheck& check) {
  const std::string terms = text_of(check.terms);
  return significant(check.bound) + (terms.empty() ? "" : ": " + terms);
}

std::string failure_sentence(const CaseRecord& c) {
  std::string text = c.message.empty() ? "fails first at " + one_line(c.first_stage) : one_line(c.message);
  while (text.ends_with('.')) text.pop_back();
  if (!c.kernel.empty()) text += "; kernel " + one_line(c.kernel);
  if (const std::string looks = one_line(text_of(c.suspects)); !looks.empty() && text.find(looks) == text.npos)
    text += "; " + looks + ": " + one_line(c.suspects.front().sentence);
  return text;
}

std::string failure_text(const CaseRecord& c, const Environment& ran, std::size_t tensors) {
  std::string text = std::string(mark_of(c.status)) + " " + shown_word_of(c.status) + "  c-" + one_line(c.id) + "  " +
                     one_line(c.law) + ", " + one_line(c.precision) + ": " + one_line(c.title) + "\n";
  if (!c.message.empty()) text += "  " + one_line(c.message) + "\n";
  text += kind_line(c);
  std::vector<std::string> told;
  for (std::size_t i = 0; i < c.worst.size() && told.size() < tensors; ++i) {
    const std::string tensor = tensor_text(c.worst[i]);
    if (std::find(told.begin(), told.end(), tensor) != told.end()) continue;  // a law may judge several runs
    told.push_back(tensor);
    text += tensor;
  }
  for (const Suspicion& suspect : c.suspects)
    text += "   = " +
            one_line(text_of(std::vector<Suspicion>{suspect}) + ": " + suspect.sentence + ". " + suspect.formula) +
            "\n";
  if (const std::string command = replay_command(c, ran); !command.empty())
    text += "   = reproduce: " + one_line(command) + "\n";
  return text;
}

}  // namespace tally
