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
  friend bool operator==(const TapView&, const TapView&) = default;
};

/// `w<window>/r<rank>/m<micro-batch>/<stage>/<tensor>`, without `r…` where one rank trains (rank is -1), without `m…`
/// when micro_batch is -1; ranks and their own micro-batches count from 0. The tensor is the case's name, `d.<tensor>`
/// for a gradient, `in.<tensor>` for a consumer's input. All names: kernels/trace/trace.md.
struct TapName {
  int window = 0;
  int micro_batch = -1;
  std::string stage, tensor;
  int rank = -1;
  std::string text() const;
  TapView view() const { return {window, micro_batch, stage, tensor, rank}; }
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

}  // namespace tally
