#include "reports/text/failure_text.hpp"

#include <algorithm>

#include "reports/text/numbers.hpp"
#include "reports/text/replay.hpp"
#include "reports/text/utf8.hpp"
#include "reports/text/words.hpp"

namespace tally {
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
