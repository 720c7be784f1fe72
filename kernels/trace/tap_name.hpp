// Names of taps, "w0/m2/forward/fc1.y", and when they name a stage of a pipeline.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/graph/stage.hpp"

namespace tally {

// What a tap is called, and how the tap of a name is found.

// What a tap is called: window, rank, micro-batch, stage and tensor. As text, and without.

/// A tap's name whose words stand elsewhere.
struct TapView {
  int window = 0;
  int micro_batch = -1;
  std::string_view stage, tensor;
  int rank = -1;
  int pipe = -1;
  friend bool operator==(const TapView&, const TapView&) = default;
};

/// `w<window>/r<rank>/p<stage of a pipeline>/m<micro-batch>/<stage>/<tensor>`, without `r…` where one rank trains (rank
/// is -1), without `p…` where no other stage of a pipeline has such a tap (pipe is -1), without `m…` when micro_batch is
/// -1; ranks, stages of a pipeline and a rank's micro-batches count from 0. The tensor is the case's name, `d.<tensor>`
/// for a gradient, `in.<tensor>` for a consumer's input. All names: kernels/trace/trace.md.
struct TapName {
  int window = 0;
  int micro_batch = -1;
  std::string stage, tensor;
  int rank = -1;
  int pipe = -1;
  std::string text() const;
  TapView view() const { return {window, micro_batch, stage, tensor, rank, pipe}; }
  friend bool operator==(const TapName&, const TapName&) = default;
};

/// Puts the name's text behind `to`.
void append(std::string& to, const TapView& name);

/// nullopt for text that is no tap name: there is one way to write one. Its words stand in `text`.
std::optional<TapView> tap_view_of(std::string_view text);
/// Throws std::runtime_error for text that is no tap name.
TapName tap_name_of(std::string_view text);

/// The same tap of a rank; of -1 as one rank alone has it.
TapName of_rank(TapName name, int rank);
/// The same tap of a stage of a pipeline; of -1 as one process alone has it.
TapName of_pipe(TapName name, int pipe);

// Which of a trace's taps has a name, found without making text.

/// Taps are numbered in the order they are added. Names are kept by whoever keeps the taps.
class TapIndex {
 public:
  /// The number of the tap with this name, where `name_at(number)` is what a tap is called.
  template <class NameAt>
  std::optional<std::size_t> find(const TapView& name, const NameAt& name_at) const {
    if (slots_.empty()) return std::nullopt;
    const std::uint32_t hash = hash_of(name);
    for (std::size_t i = hash & mask();; i = (i + 1) & mask()) {
      const Slot& slot = slots_[i];
      if (slot.number == none) return std::nullopt;
      if (slot.hash == hash && name_at(slot.number) == name) return slot.number;
    }
  }

  /// Gives the next number to a name that has none.
  void add(const TapView& name);

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Slot {
    std::uint32_t hash = 0, number = none;
  };

  static std::uint32_t hash_of(const TapView& name);
  std::size_t mask() const { return slots_.size() - 1; }
  void put(const Slot& slot);
  void grow();

  std::vector<Slot> slots_;  // a power of two, at most half of them taken
  std::uint32_t count_ = 0;
};

// Which taps name the stage of a pipeline that left them. A layer and its parameters are on one stage, so that what is
// named after them needs no tag.

/// Each stage's own: what it hands over and takes, what it found, and its part of a norm.
inline bool is_of_own_stage(std::string_view stage, std::string_view tensor) {
  if (stage == StageName::send || stage == StageName::receive) return true;
  return (stage == StageName::agree && tensor == "in.found") ||
         (stage == StageName::overflow_check && tensor == "found") || (stage == StageName::norm && tensor == "part");
}

/// A number of the window that every stage has, and all of them alike: "coefficient" of "clip".
inline bool is_of_every_stage(std::string_view stage, std::string_view tensor, int micro_batch) {
  if (is_of_own_stage(stage, tensor) || micro_batch >= 0 || stage == StageName::count) return false;
  if (tensor.starts_with("in.")) tensor.remove_prefix(3);
  for (const std::string_view own : {"weight", "bias", "running_mean", "running_var"})
    if (tensor == own) return false;  // of a layer that is named "in"
  return tensor.find('.') == std::string_view::npos;
}

/// What a tap of stage `pipe` has in its name: what is each one's own bears its number, and so does what every stage
/// has, but of the first, whose tap is named as where one process has the whole model. Else -1.
inline int pipe_in_name(std::string_view stage, std::string_view tensor, int micro_batch, int pipe) {
  if (is_of_own_stage(stage, tensor)) return pipe;
  return pipe > 0 && is_of_every_stage(stage, tensor, micro_batch) ? pipe : -1;
}

/// The part of a pipelined model that a tap is of: by the layer that its tensor names, of the loss the last; -1 where it
/// names none.
int part_of_tap(const Case& c, const TapName& name);
/// The stage that left a tap; 0 of what every stage has alike.
int stage_of_tap(const Case& c, const TapName& name);

}  // namespace tally
