#include "properties/campaign/corpus.hpp"

#include <algorithm>

#include "oracle/case/io.hpp"
#include "reports/record/record.hpp"

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

std::filesystem::path keep(const std::filesystem::path& corpus, const std::string& law, const std::string& id,
                           const Case& c) {
  std::filesystem::create_directories(corpus);
  const auto file = corpus / (law + "@" + id + ".json");
  write_atomically(file.string(), write_case(c));
  return file;
}

}  // namespace tally
