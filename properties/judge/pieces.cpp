// A capture of an opaque model, cut into pieces that are judged one after another.
#include "properties/judge/pieces.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>

#include "oracle/case/contract.hpp"
#include "oracle/case/kept_tensors.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/tensors/bytes.hpp"
#include "properties/judge/bound_terms.hpp"
#include "properties/judge/lens.hpp"
#include "properties/judge/verdict.hpp"
#include "properties/lenses/walk.hpp"

namespace tally {
namespace {

Tensor stretched_part_of(const Tensor& whole, const Stretch& stretch) {
  const std::size_t size = size_of(whole.dtype);
  const std::byte* first = whole.bytes.data() + stretch.first * size;
  std::vector<std::byte> bytes(first, first + stretch.count * size);
  mapped_bytes_read(bytes.size());
  return {whole.dtype, {static_cast<std::int64_t>(stretch.count)}, Bytes(std::move(bytes))};
}

const Stretch* stretch_of(const Piece& piece, const std::string& parameter) {
  const auto found = std::ranges::find_if(piece, [&](const Stretch& each) { return each.parameter == parameter; });
  return found == piece.end() ? nullptr : &*found;
}

/// The worst of two checks of one tensor's parts.
bool is_worse(const TensorCheck& a, const TensorCheck& b) {
  const bool fails_a = a.status == Status::fail, fails_b = b.status == Status::fail;
  return fails_a != fails_b ? fails_a : a.worst_ratio > b.worst_ratio;
}

/// Which of two parts speaks for both: a failed one, then one that could not be judged, then one that passed. A vacuous
/// part leaves the tensor open; a part of zeros only shows nothing of it.
int rank(const TensorCheck& check) {
  switch (check.status) {
    case Status::error:
      return 0;
    case Status::fail:
      return 1;
    case Status::not_run:
      return 2;
    case Status::vacuous:
      return check.zero_signal ? 5 : 3;
    case Status::pass:
      return 4;
  }
  return 0;
}

/// sqrt(a^2 + b^2), the 2-norm over both parts.
void add_norm(double& a, double b) { a = std::hypot(a, b); }

void join(TensorCheck& all, const TensorCheck& more) {
  const Status status = rank(more) < rank(all) ? more.status : all.status;
  TensorCheck worst = is_worse(more, all) ? more : all;
  const TensorCheck& other = is_worse(more, all) ? all : more;
  if (worst.failure == FailureClass::none) worst.failure = other.failure;
  if (worst.message.empty()) worst.message = other.message;
  worst.status = status;
  worst.elements += other.elements;
  worst.differing += other.differing;
  worst.over_bound += other.over_bound;
  worst.non_finite += other.non_finite;
  worst.uninformative += other.uninformative;
  worst.excess = std::max(worst.excess, other.excess);
  worst.zero_signal = worst.zero_signal && other.zero_signal;
  worst.adopted_share = std::max(worst.adopted_share, other.adopted_share);
  const std::uint64_t comparisons = worst.spread.comparisons + other.spread.comparisons;
  if (other.spread.log10_chance < worst.spread.log10_chance) worst.spread = other.spread;
  worst.spread.comparisons = comparisons;
  add_norm(worst.norm_expected, other.norm_expected);
  add_norm(worst.norm_error, other.norm_error);
  add_norm(worst.norm_bound, other.norm_bound);
  all = std::move(worst);
}

}  // namespace

std::vector<Piece> pieces_of(const Case& c, std::size_t most) {
  std::vector<Piece> pieces(1);
  std::size_t room = most;
  for (const std::string& p : parameters_of(c.model)) {
    const std::size_t elements = c.tensors.at(p).elements();
    for (std::size_t first = 0; first < elements;) {
      const std::size_t count = std::min(elements - first, room);
      pieces.back().push_back({p, first, count});
      first += count;
      room -= count;
      if (room > 0) continue;
      pieces.emplace_back();
      room = most;
    }
  }
  if (pieces.back().empty() && pieces.size() > 1) pieces.pop_back();
  return pieces;
}

ParameterOf::ParameterOf(const Case& c) : parameters_(parameters_of(c.model)) { std::ranges::sort(parameters_); }

std::string ParameterOf::operator()(const std::string& tensor) const {
  for (std::size_t at = 0; at != std::string::npos;) {
    const std::string rest = tensor.substr(at);
    if (std::ranges::binary_search(parameters_, rest)) return rest;
    const std::size_t dot = tensor.find('.', at);
    at = dot == std::string::npos ? dot : dot + 1;
  }
  return {};
}

PieceOfCapture cut(const Case& c, const Trace& trace, const Piece& piece, bool others) {
  PieceOfCapture part;
  Case& small = part.c;
  small.name = c.name;
  small.model = c.model;
  small.windows = c.windows;
  small.normalisation = c.normalisation;
  small.precision = c.precision;
  small.recipe = c.recipe;
  small.execution = c.execution;
  Layer& layer = small.model.layers.front();
  const std::string label = label_of(c.model, 0) + ".";
  Shapes shapes;
  for (const Stretch& stretch : piece) {
    shapes[stretch.parameter.substr(label.size())] = {static_cast<std::int64_t>(stretch.count)};
  }
  layer.options["tensors"] = std::move(shapes);
  const ParameterOf parameter_of(c);
  for (const auto& [name, tensor] : c.tensors) {
    const std::string parameter = parameter_of(name);
    if (parameter.empty()) {
      small.tensors.emplace(name, tensor);
    } else if (const Stretch* stretch = stretch_of(piece, parameter)) {
      small.tensors.emplace(name, stretched_part_of(tensor, *stretch));
    }
  }
  part.trace.claims = trace.claims;
  part.trace.groups = trace.groups;
  part.trace.case_hash = trace.case_hash;
  part.trace.whole_model = trace.whole_model;
  if (others) part.trace.violations = trace.violations;
  for (const Tap& tap : trace.taps()) {
    const std::string parameter = parameter_of(tap.name.tensor);
    // Numbers of a window that every piece needs: rate, scale, counts, norm, the decision to skip.
    const bool shared = parameter.empty() && tap.value.shape.empty();
    const Stretch* stretch = parameter.empty() ? nullptr : stretch_of(piece, parameter);
    if (stretch != nullptr) {
      part.trace.add(tap.name, stretched_part_of(tap.value, *stretch));
    } else if (shared || (parameter.empty() && others)) {
      part.trace.add(tap.name, tap.value);
    }
  }
  return part;
}

void JoinedChecks::add(const Piece& piece, std::vector<TensorCheck> checks) {
  const bool first = checks_.empty();
  std::unordered_map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < checks_.size(); ++i) known.emplace(checks_[i].lens + " " + checks_[i].tap, i);
  for (TensorCheck& check : checks) {
    const std::string parameter = parameter_of_(tap_name_of(check.tap).tensor);
    if (parameter.empty() && !first) continue;
    if (const Stretch* stretch = parameter.empty() ? nullptr : stretch_of(piece, parameter)) {
      const auto whole = [&](std::vector<std::int64_t>& index) {
        if (index.size() == 1)
          index = index_in(stretch->first + static_cast<std::size_t>(index.front()), c_.tensors.at(parameter).shape);
      };
      whole(check.worst_index);
      for (ElementCheck& element : check.elements_worst) whole(element.index);
      check.profile = {};  // of the whole tensor there is none
    }
    const auto place = known.find(check.lens + " " + check.tap);
    if (place == known.end()) {
      checks_.push_back(std::move(check));
    } else {
      join(checks_[place->second], check);
    }
  }
}

namespace {

OverflowFound worse(OverflowFound a, OverflowFound b) {
  if (a == OverflowFound::certain || b == OverflowFound::certain) return OverflowFound::certain;
  return a == OverflowFound::open || b == OverflowFound::open ? OverflowFound::open : OverflowFound::none;
}

/// What one piece adds to every window's buffers, from the taps or from the case alone.
void add_buffers(const PieceOfCapture& part, bool from_taps, WholeModel& whole) {
  Walk walk(part.c, part.trace, from_taps ? Lens::group : Lens::end_to_end);
  walk.judges = false;
  for (walk.window = 0; walk.window < static_cast<int>(part.c.windows.size()); ++walk.window) {
    walk_to_buffers(walk);
    BuffersOfAll& all = from_taps ? whole.windows[walk.window].seen : whole.windows[walk.window].expected;
    all.overflow = worse(all.overflow, overflow_of(walk.buffers));
    for (const auto& [p, buffer] : walk.buffers) all.terms.add(walk.declared, part.c.recipe.clip, *buffer.read());
  }
}

/// One parameter's tensor of a window, where it was tapped and all before it were.
void add_tapped(const PieceOfCapture& part, const TapName& name, std::optional<oracle::NormTerms>& terms) {
  const Tensor* tapped = part.trace.find(name.view());
  if (tapped == nullptr) terms.reset();
  if (terms)
    terms->add(oracle::declared(part.c.precision, part.trace.claims), part.c.recipe.clip, oracle::only_read(*tapped));
}

/// The bits that were seen of gradients, and of what the overflow check reads.
void add_bits(const PieceOfCapture& part, WholeModel& whole) {
  for (auto& [window, all] : whole.windows) {
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
    whole.windows[window].read_by_norm.emplace();
    whole.windows[window].unscaled.emplace();
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
  if (!is_opaque(c.model) || in_ranks(c) || reads_whole_tensors(c.recipe.optimizer)) return false;
  std::size_t elements = 0;
  for (const std::string& p : parameters_of(c.model)) elements += c.tensors.at(p).elements();
  return elements > 4 * elements_a_piece;
}

GroupedChecks piecewise_lenses(const Case& c, const Trace& trace, const GoneThrough& told, std::size_t most) {
  const std::vector<Piece> pieces = pieces_of(c, most);
  const Grouping grouping = trace.groups.empty() ? Grouping::inferred : Grouping::declared;
  std::shared_ptr<const WholeModel> whole = trace.whole_model;
  if (reads_all(c.recipe) && whole_window(trace, 0) == nullptr)
    whole = std::make_shared<const WholeModel>(sums_of(c, trace, pieces));
  JoinedChecks joined(c);
  std::vector<std::string> groups;
  bool first = true;
  for (const Piece& piece : pieces) {
    PieceOfCapture part = cut(c, trace, piece, first);
    part.trace.whole_model = whole;
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
