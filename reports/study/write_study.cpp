#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "reports/record/write_together.hpp"
#include "reports/study/study.hpp"

namespace tally {

void write_study(const Study& study, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder))
    throw std::runtime_error("cannot write the study to " + folder.string() + ": " +
                             (error ? error.message() : "it is not a folder"));
  write_together({{(folder / (study.name + ".json")).string(), to_json(study)},
                  {(folder / (study.name + ".html")).string(), study_html(study)},
                  {(folder / (study.name + ".md")).string(), study_markdown(study)}});
}

int exit_code_of(const Study& study) {
  switch (study.status) {
    case Status::pass:
      return 0;
    case Status::fail:
      return 1;
    case Status::error:
      return 3;
    default:
      return 4;
  }
}

}  // namespace tally
