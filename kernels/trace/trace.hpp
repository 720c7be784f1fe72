// The trace: what a subject leaves behind. Named tensors with their exact bits, in the order they were made.
// Defined in trace.cpp, tap_name.cpp, trace_file.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/trace/stage_group.hpp"
#include "oracle/case/case.hpp"
#include "oracle/case/tensor.hpp"
#include "oracle/layers/claim.hpp"

namespace tally {

/// `w<window>/m<micro-batch>/<stage>/<tensor>`, without `m…` when micro_batch is -1. The tensor is the case's name,
/// `d.<tensor>` for a gradient, `in.<tensor>` for a consumer's input. All names: kernels/trace/trace.md.
struct TapName {
  int window = 0;
  int micro_batch = -1;
  std::string stage, tensor;
  std::string text() const;
  friend bool operator==(const TapName&, const TapName&) = default;
};

/// Throws std::runtime_error for text that is no tap name.
TapName tap_name_of(std::string_view text);

struct Tap {
  TapName name;
  Tensor value;
};

class Trace {
 public:
  Claims claims;
  std::vector<StageGroup> groups;  // declared: fused stages that leave no taps between them
  std::string case_hash;           // SHA-256 of the canonical case
  std::vector<std::string>
      violations;  // guard zones broken, inputs changed, executor findings: text with file and line

  /// A name added twice keeps its first value as an input (`in.…`) and its last one as an output: what a stage that ran
  /// twice started from, and what it left.
  void add(TapName name, Tensor value);
  const std::vector<Tap>& taps() const { return taps_; }
  /// nullptr when it was not tapped.
  const Tensor* find(const std::string& name) const;

 private:
  std::vector<Tap> taps_;
  std::unordered_map<std::string, std::size_t> index_;
};

/// safetensors with metadata tally_trace, case, claims and, where there are any, groups. Reading checks names, shapes
/// and dtypes against the case: throws std::runtime_error with the tap, what was found and what was expected; an
/// unknown tap is an error.
void write_trace(const Trace& trace, const std::filesystem::path& file);
Trace read_trace(const std::filesystem::path& file, const Case& c);

}  // namespace tally
