// What a tap is called: window, rank, micro-batch, stage and tensor. As text, and without.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tally {

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

}  // namespace tally
