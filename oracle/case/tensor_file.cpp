#include "oracle/case/tensor_file.hpp"

#include <algorithm>
#include <optional>
#include <system_error>

#include "oracle/case/read_object.hpp"
#include "oracle/case/safetensors.hpp"

namespace tally {
namespace {

namespace fs = std::filesystem;

/// The file's real path; nullopt when the name is absolute or empty, climbs with "..", or leads out of the folder
/// through a symbolic link.
std::optional<fs::path> inside(const fs::path& folder, const std::string& name) {
  const fs::path relative(name);
  if (name.empty() || name.find('\0') != std::string::npos || relative.has_root_path()) return std::nullopt;
  if (std::find(relative.begin(), relative.end(), fs::path("..")) != relative.end()) return std::nullopt;
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) return std::nullopt;
  const fs::path real = fs::weakly_canonical(root / relative, error);
  if (error) return std::nullopt;
  const auto [end, unused] = std::mismatch(root.begin(), root.end(), real.begin(), real.end());
  if (end != root.end()) return std::nullopt;
  return real;
}

}  // namespace

std::map<std::string, Tensor> read_tensor_file(const Json& json, const std::string& path, const fs::path& folder,
                                               Findings& findings) {
  ObjectReader object(&json, path, findings);
  const std::string at = object.path("file");
  const auto name = read_text(object.required("file"), at, findings);
  object.finish();
  if (!name) return {};
  const auto broken = [&](const std::string& found, const char* expected) {
    findings.add_broken(path, "\"file\": " + found, expected);
    return std::map<std::string, Tensor>{};
  };
  const std::string found = shown(Json::of_string(*name));
  if (folder.empty()) return broken(found, "inline tensors, as this case lies in no folder");
  const auto file = inside(folder, *name);
  if (!file) return broken(found, "a relative path that stays inside the case's folder");
  try {
    return read_safetensors_file(*file).tensors;
  } catch (const std::exception& error) {
    const std::string why = error.what();
    return broken(found + ": " + why.substr(0, why.find("; expected ")), "a readable safetensors file");
  }
}

}  // namespace tally
