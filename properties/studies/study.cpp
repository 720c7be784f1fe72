#include "properties/studies/study.hpp"

#include <map>

#include "oracle/registered_files.hpp"

namespace tally {
namespace {
std::map<std::pair<std::string, std::string>, StudyRunner>& registry() {
  static std::map<std::pair<std::string, std::string>, StudyRunner> all;
  return all;
}
}  // namespace

RegisterStudy::RegisterStudy(StudyRunner runner, std::source_location at) {
  note_registered(at);
  registry().emplace(std::pair(runner.family, runner.name), std::move(runner));
}

std::vector<const StudyRunner*> studies(std::string_view family) {
  std::vector<const StudyRunner*> all;
  for (const auto& [key, runner] : registry()) {
    if (key.first == family) all.push_back(&runner);
  }
  return all;
}

const StudyRunner* find_study(std::string_view family, std::string_view name) {
  const auto found = registry().find({std::string(family), std::string(name)});
  return found == registry().end() ? nullptr : &found->second;
}

Study run_study(const StudyRunner& runner, const StudyOptions& options) {
  Study study = runner.run(options);
  study.family = runner.family;
  study.name = runner.name;
  study.question = runner.question;
  study.seed = options.seed;
  study.effort = options.effort;
  study.partial = options.interrupted != nullptr && options.interrupted->load();
  if (study.partial && study.status == Status::pass) {
    study.status = Status::not_run;
    study.message = "interrupted before everything the study demands was looked at";
  }
  return study;
}

}  // namespace tally
