#include "reports/command_line/check/examination.hpp"

#include "oracle/registered_files.hpp"

namespace tally::command_line {
namespace {

std::vector<Examination>& registry() {
  static std::vector<Examination> all;
  return all;
}

}  // namespace

RegisterExamination::RegisterExamination(Examination examination, std::source_location at) {
  note_registered(at);
  registry().push_back(std::move(examination));
}

std::vector<Examination> examinations() { return registry(); }

}  // namespace tally::command_line
