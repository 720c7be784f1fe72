// Reading JSON objects key by key: what is missing, unknown or of another type becomes a finding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/case/findings.hpp"
#include "oracle/case/json.hpp"

namespace tally {

class ObjectReader {
 public:
  /// Notes a finding when `json` is no object; a null pointer reads as an object that was reported already.
  ObjectReader(const Json* json, std::string path, Findings& findings);

  /// nullptr when the key is missing; a missing required key is a finding.
  const Json* required(std::string_view key);
  const Json* optional(std::string_view key);
  /// Call last: every key that was not asked for is a finding.
  void finish() const;

  std::string path(std::string_view key) const { return member_path(path_, key); }
  const std::string& path() const { return path_; }
  Findings& findings() const { return findings_; }

 private:
  const Json* json_;
  std::string path_;
  Findings& findings_;
  std::vector<std::string> known_;
};

// Each returns nullopt for a null pointer and, with a finding, for a value of another type.
std::optional<bool> read_boolean(const Json* json, const std::string& path, Findings& findings);
std::optional<std::int64_t> read_integer(const Json* json, const std::string& path, Findings& findings);
std::optional<std::string> read_text(const Json* json, const std::string& path, Findings& findings);
std::optional<std::string> read_word(const Json* json, const std::string& path, const std::vector<std::string>& words,
                                     Findings& findings);

}  // namespace tally
