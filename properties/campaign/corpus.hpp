// Failing cases, one JSON file each, named `<law>@<id>.json`: replayed before anything new is drawn.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally {

struct KeptCase {
  std::string law;
  std::filesystem::path file;
};

/// What a folder has under such names, sorted, whether it is a case or not; empty when there is no such folder.
std::vector<KeptCase> kept_cases(const std::filesystem::path& corpus);

/// Reads one. Throws std::runtime_error that names the file, and waits for nobody where it is none.
Case case_of(const KeptCase& kept);
/// The record of one that cannot be read: an error.
CaseRecord no_case(const KeptCase& kept, const std::string& reason);

/// Writes the case, whole or not at all; makes the folder. Throws std::runtime_error where something else stands there.
void keep_as(const std::filesystem::path& file, const Case& c);
/// The same under the name of its law and id, which it returns.
std::filesystem::path keep(const std::filesystem::path& corpus, const std::string& law, const std::string& id,
                           const Case& c);

}  // namespace tally
