// What is wrong with a case, gathered while it is read: limits of its sizes, findings, and JSON objects read key by
// key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/case/file/json.hpp"
#include "oracle/case/io.hpp"

namespace tally {

// How large a case may be. Every size is held against these before memory is taken for it.

/// Elements of one tensor, and of all activations of a case together: rows times features of each layer.
inline constexpr std::size_t most_elements = std::size_t{1} << 28;
/// The same of a case in a token, where a few letters draw a tensor of any size: of all its drawn tensors together,
/// and of its activations.
inline constexpr std::size_t most_token_elements = std::size_t{1} << 22;
/// Bytes of a case file, and of the JSON packed in a token.
inline constexpr std::size_t most_text = std::size_t{1} << 27;
/// Numbers, texts, lists and objects of one JSON text; larger tensors lie in a file beside the case.
inline constexpr std::size_t most_values = std::size_t{1} << 22;
/// Characters of one number: every binary64 can be written exactly.
inline constexpr std::size_t longest_number = 4096;
inline constexpr std::size_t most_layers = 1024;
inline constexpr std::size_t most_layer_inputs = 64;
/// The micro-batches of all windows together.
inline constexpr std::size_t most_micro_batches = std::size_t{1} << 14;
/// Bytes of a safetensors file, which is mapped where it is large, and of its header.
inline constexpr std::size_t most_tensor_file = std::size_t{1} << 40;
inline constexpr std::size_t longest_header = std::size_t{1} << 25;

/// Ranks that train together.
inline constexpr std::size_t most_ranks = 4096;

// What is wrong with a case, gathered so that one reading reports everything.

class Findings {
 public:
  /// Something is wrong, but what stands at `path` can still be used to judge the rest.
  void add(std::string path, std::string found, std::string expected);
  /// What stands at `path` cannot be used: rules that need it do not run.
  void add_broken(std::string path, std::string found, std::string expected);

  /// Nothing at, above or below this path is broken. Nothing is sound once the findings are full.
  bool sound(std::string_view path) const;
  bool empty() const { return errors_.empty(); }
  const std::vector<CaseError>& errors() const { return errors_; }

 private:
  static constexpr std::size_t most_findings = 1000;
  bool full() const { return errors_.size() >= most_findings; }

  std::vector<CaseError> errors_;
  std::vector<std::string> broken_;
};

/// `"a", "b", "c"` for messages.
std::string quoted_list(const std::vector<std::string>& words);

// Reading JSON objects key by key: what is missing, unknown or of another type becomes a finding.

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
