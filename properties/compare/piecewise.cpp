#include "properties/compare/piecewise.hpp"

#include <algorithm>

#include "oracle/case/kinds.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/tolerance/with_spread.hpp"
#include "properties/compare/bound_terms.hpp"
#include "properties/compare/in_order.hpp"
#include "properties/compare/pieces.hpp"
#include "properties/compare/whole_model.hpp"
#include "properties/lenses/walk.hpp"

namespace tally {
namespace {

OverflowFound worse(OverflowFound a, OverflowFound b) {
  if (a == OverflowFound::certain || b == OverflowFound::certain) return OverflowFound::certain;
  return a == OverflowFound::open || b == OverflowFound::open ? OverflowFound::open : OverflowFound::none;
}

/// What one piece adds to every window's buffers, from the taps or from the case alone.
void add_buffers(const PieceOfCapture& part, bool from_taps, WholeModel& whole) {
  const oracle::SpreadScope bounds_alone(oracle::Spread::none);
  Walk walk(part.c, part.trace, from_taps ? Lens::group : Lens::end_to_end);
  walk.judges = false;
  for (walk.window = 0; walk.window < static_cast<int>(part.c.windows.size()); ++walk.window) {
    walk_to_buffers(walk);
    BuffersOfAll& all = from_taps ? whole[walk.window].seen : whole[walk.window].expected;
    all.overflow = worse(all.overflow, overflow_of(walk.buffers));
    for (const auto& [p, buffer] : walk.buffers) all.terms.add(part.c.recipe.clip, *buffer.read());
  }
}

/// One parameter's tensor of a window, where it was tapped and all before it were.
void add_tapped(const PieceOfCapture& part, const TapName& name, std::optional<oracle::NormTerms>& terms) {
  const Tensor* tapped = part.trace.find(name.view());
  if (tapped == nullptr) terms.reset();
  if (terms) terms->add(part.c.recipe.clip, oracle::only_read(*tapped));
}

/// The bits that were seen of gradients, and of what the overflow check reads.
void add_bits(const PieceOfCapture& part, WholeModel& whole) {
  for (auto& [window, all] : whole) {
    for (const std::string& p : parameters_of(part.c.model)) {
      const Tensor* buffer = part.trace.find(TapName{window, -1, "overflow_check", "in.buffer." + p}.view());
      if (buffer != nullptr) all.non_finite = all.non_finite || oracle::any_non_finite(*buffer);
      add_tapped(part, {window, -1, "norm", "in.d." + p}, all.read_by_norm);
      add_tapped(part, {window, -1, "unscale", "d." + p}, all.unscaled);
    }
  }
}

/// What every window's stages read of all elements.
WholeModel sums_of(const Case& c, const Trace& trace, const std::vector<Piece>& pieces) {
  WholeModel whole;
  for (int window = 0; window < static_cast<int>(c.windows.size()); ++window) {
    whole[window].read_by_norm.emplace();
    whole[window].unscaled.emplace();
  }
  for (const Piece& piece : pieces) {
    const PieceOfCapture part = cut(c, trace, piece, false);
    add_buffers(part, true, whole);
    add_buffers(part, false, whole);
    add_bits(part, whole);
  }
  return whole;
}

bool reads_all(const Recipe& recipe) { return clips_by_norm(recipe.clip) || checks_overflow(recipe.loss_scale); }

}  // namespace

bool is_judged_in_pieces(const Case& c) {
  if (!is_opaque(c.model) || in_ranks(c)) return false;
  std::size_t elements = 0;
  for (const std::string& p : parameters_of(c.model)) elements += c.tensors.at(p).elements();
  return elements > 4 * elements_a_piece;
}

GroupedChecks piecewise_lenses(const Case& c, const Trace& trace, const GoneThrough& told, std::size_t most) {
  const std::vector<Piece> pieces = pieces_of(c, most);
  const Grouping grouping = trace.groups.empty() ? Grouping::inferred : Grouping::declared;
  std::optional<WholeModel> whole;
  std::optional<WholeModelScope> scope;
  if (reads_all(c.recipe) && whole_window(0) == nullptr) scope.emplace(whole.emplace(sums_of(c, trace, pieces)));
  JoinedChecks joined(c);
  std::vector<std::string> groups;
  bool first = true;
  for (const Piece& piece : pieces) {
    const PieceOfCapture part = cut(c, trace, piece, first);
    GroupedChecks found = hard_lenses(part.c, part.trace, grouping, told);
    split_bounds(part.c, part.trace, found.checks);
    joined.add(piece, std::move(found.checks));
    for (std::string& group : found.groups) {
      if (std::ranges::find(groups, group) == groups.end()) groups.push_back(std::move(group));
    }
    first = false;
  }
  return {in_order(trace, std::move(joined).all()), std::move(groups)};
}

}  // namespace tally
