#include "properties/campaign/corpus.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "oracle/case/io.hpp"
#include "oracle/case/kinds.hpp"

namespace tally {

std::vector<KeptCase> kept_cases(const std::filesystem::path& corpus) {
  std::vector<KeptCase> kept;
  if (!std::filesystem::is_directory(corpus)) return kept;
  for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
    const std::string name = entry.path().filename().string();
    const auto at = name.find('@');
    if (at != std::string::npos && name.ends_with(".json")) kept.push_back({name.substr(0, at), entry.path()});
  }
  std::sort(kept.begin(), kept.end(), [](const KeptCase& a, const KeptCase& b) { return a.file < b.file; });
  return kept;
}

Case case_of(const KeptCase& kept) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(kept.file, unknown))
    throw std::runtime_error(kept.file.string() + ": found no file; expected a case, or nothing of that name");
  try {
    Case c = read_case_file(kept.file);
    require_stated(c);
    return c;
  } catch (const std::exception& problem) {
    throw std::runtime_error(kept.file.string() + ": " + problem.what());
  }
}

CaseRecord no_case(const KeptCase& kept, const std::string& reason) {
  CaseRecord record;
  record.law = kept.law;
  record.id = sha256(kept.file.filename().string()).substr(0, 12);
  record.title = "kept: " + kept.file.filename().string();
  record.status = Status::error;
  record.message = reason;
  return record;
}

void keep_as(const std::filesystem::path& file, const Case& c) {
  std::filesystem::create_directories(file.parent_path());
  const std::string text = write_case(c);
  std::error_code none;
  if (std::filesystem::exists(std::filesystem::symlink_status(file, none))) {
    std::ostringstream there;
    if (std::filesystem::is_regular_file(file, none)) there << std::ifstream(file, std::ios::binary).rdbuf();
    if (there.str() == text) return;
    throw std::runtime_error(file.string() + ": found something else; expected nothing of that name, or this case");
  }
  write_atomically(file.string(), text);
}

std::filesystem::path keep(const std::filesystem::path& corpus, const std::string& law, const std::string& id,
                           const Case& c) {
  const auto file = corpus / (law + "@" + id + ".json");
  keep_as(file, c);
  return file;
}

}  // namespace tally
