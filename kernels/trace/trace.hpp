// The trace: what a subject leaves behind. Named tensors with their exact bits, in the order they were made; as a file,
// and as its bytes. Defined in trace.cpp, flat_trace.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/trace/stage_group.hpp"
#include "kernels/trace/tap_name.hpp"
#include "oracle/case/case.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "oracle/layers/claim.hpp"

namespace tally {

struct Tap {
  TapName name;
  Tensor value;
};

struct WholeModel;  // properties/judge/pieces.hpp

class Trace {
 public:
  // Defined once, in trace.cpp: most files that hold one would compile their own copy of these.
  Trace();
  Trace(const Trace&);
  Trace(Trace&&) noexcept;
  Trace& operator=(const Trace&);
  Trace& operator=(Trace&&) noexcept;
  ~Trace();

  Claims claims;
  std::vector<StageGroup> groups;  // declared: fused stages that leave no taps between them
  std::string case_hash;           // SHA-256 of the canonical case
  std::vector<std::string>
      violations;  // guard zones broken, inputs changed, executor findings: text with file and line

  const Trace* whole = nullptr;  // of all ranks, where this is one rank's part of it (properties/judge)
  /// Where the trace holds some elements only: what stages over all parameters read of the others.
  std::shared_ptr<const WholeModel> whole_model = {};

  /// A name added twice keeps its first value as an input (`in.…`) and its last one as an output: what a stage that ran
  /// twice started from, and what it left.
  void add(TapName name, Tensor value);
  /// In place of what the tap of this number held.
  void replace(std::size_t number, Tensor value) { taps_[number].value = std::move(value); }
  const std::vector<Tap>& taps() const { return taps_; }
  /// All of them, taken out of a trace that is no longer needed.
  std::vector<Tap> take_taps() && { return std::move(taps_); }
  /// nullptr when it was not tapped.
  const Tensor* find(const TapView& name) const;
  const Tensor* find(std::string_view name) const;
  /// Its number among the taps.
  std::optional<std::size_t> place_of(const TapView& name) const;

 private:
  std::vector<Tap> taps_;
  TapIndex index_;
};

/// safetensors with metadata tally_trace, case, claims and, where there are any, groups. Reading checks names, shapes
/// and dtypes against the case: throws std::runtime_error with the tap, what was found and what was expected; an
/// unknown tap is an error.
void write_trace(const Trace& trace, const std::string& file);
Trace read_trace(const std::string& file, const Case& c);

// A trace as the bytes of its file.

/// What write_trace() writes.
std::string bytes_of(const Trace& trace);
/// The trace that the bytes hold, of the case with this hash, as read_trace() reads a file.
Trace trace_of_bytes(std::string_view bytes, const Case& c, const std::string& hash);

// Claims of a subject that says the same of every case.

/// claims_of_json(), without reading again what this thread read last.
Claims known_claims(const std::string& json);

// A trace as flat bytes, between two processes of one program: nothing of it is text, so that it costs little more than
// its tensors. No file format: it never outlives a run.

/// Taps, claims and groups.
std::string flat_bytes_of(const Trace& trace);
/// Throws std::runtime_error for bytes that are none, and for taps that the case does not have, as read_trace() does.
Trace trace_of_flat_bytes(std::string_view bytes, const Case& c, const std::string& hash);

}  // namespace tally
