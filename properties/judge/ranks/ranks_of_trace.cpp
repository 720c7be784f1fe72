// A trace of several ranks taken apart, and put together where they share the optimizer.
#include "properties/judge/ranks/ranks_of_trace.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "kernels/trace/stage_group.hpp"
#include "oracle/case/graph.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/graph/stage.hpp"

namespace tally {

namespace {

/// Whether a tap is a finding of a rank's own pieces alone.
bool is_own_finding(const TapName& name) {
  const bool found = name.tensor == "found" && name.stage == StageName::overflow_check;
  return found || (name.tensor == "in.found" && name.stage == StageName::agree) ||
         (name.tensor == "part" && name.stage == StageName::norm);
}

}  // namespace

const Tensor* handed_over(const Trace& trace, std::size_t ranks, std::size_t from, int window, int micro_batch,
                          const std::string& stage, const std::string& tensor, int pipe) {
  if (ranks == 1) return trace.find(TapView{window, micro_batch, stage, tensor, -1, pipe});
  return trace.whole == nullptr
             ? nullptr
             : trace.whole->find(TapView{window, micro_batch, stage, tensor, static_cast<int>(from), pipe});
}

namespace {

/// What all ranks work out of a micro-step together, and what follows from it alone.
bool is_of_micro_step(const Case& whole, const TapName& name) {
  if (name.stage == StageName::sync_statistics) return true;
  if (name.stage != StageName::running_stats || name.micro_batch < 0) return false;
  const std::string label = name.tensor.substr(0, name.tensor.rfind('.'));
  for (std::size_t i = 0; i < whole.model.layers.size(); ++i)
    if (label_of(whole.model, i) == label) return pools_steps(whole, whole.model.layers[i]);
  return false;
}

}  // namespace

bool is_shared(const Case& whole, const TapName& name) {
  if (!sharded_parameter(whole, name.stage, name.tensor, name.micro_batch).empty())
    return false;  // each has its own piece
  const bool own = name.stage == StageName::overflow_check || (name.stage == StageName::norm && name.tensor == "part");
  if (own || name.tensor.starts_with("in.")) return false;
  if (is_of_micro_step(whole, name)) return true;
  if (name.micro_batch < 0 && name.stage == StageName::running_stats) return name.tensor.starts_with("broadcast.");
  if (name.stage == StageName::checkpoint) return true;
  if (name.micro_batch < 0) return part_of_window(name.stage, name.tensor) >= 2;
  const bool sum = name.stage == StageName::reduce && part_of_window(name.stage, name.tensor) == 2;
  return sum || (name.stage == StageName::accumulate && communicate_of(whole) == Communicate::micro_batch);
}

std::string handed_prefix(const Case& c, int micro_batch) {
  const bool gradients = communicate_of(c) == Communicate::micro_batch && micro_batch >= 0;
  return gradients ? "in.d." : "in.buffer.";
}

namespace {

/// What the ranks of one group hold of one tensor.
struct Pieces {
  std::string parameter;
  std::vector<const Tensor*> of_rank;
};

/// Nothing where one of them is missing, or is not of its size.
std::optional<Tensor> put_together(const Case& whole, const Pieces& pieces) {
  const Tensor* any = nullptr;
  for (const Tensor* each : pieces.of_rank) any = each != nullptr ? each : any;
  Tensor all(any->dtype, whole.tensors.at(pieces.parameter).shape);
  const std::size_t width = size_of(any->dtype);
  for (std::size_t rank = 0; rank < pieces.of_rank.size(); ++rank) {
    const ShardPiece place = piece_of(whole, pieces.parameter, rank);
    if (place.count == 0) continue;
    const Tensor* piece = pieces.of_rank[rank];
    if (piece == nullptr || piece->dtype != any->dtype || static_cast<std::int64_t>(piece->elements()) != place.count)
      return {};
    std::ranges::copy(piece->bytes, all.bytes.data() + static_cast<std::size_t>(place.first) * width);
  }
  return all;
}

/// By their names, as one rank alone has them, group by group.
using SharedTaps = std::map<std::pair<std::size_t, std::string>, std::pair<TapName, Pieces>>;

std::size_t rank_in(const TapName& name) { return name.rank < 0 ? 0 : static_cast<std::size_t>(name.rank); }

/// A piece to those of its tensor; any other tap to the rank's own.
void add_tap(const Case& whole, const Tap& tap, SharedTaps& shared, Trace* own) {
  TapName name = of_rank(tap.name, -1);
  std::string parameter = sharded_parameter(whole, name.stage, name.tensor, name.micro_batch);
  if (parameter.empty()) {
    if (own != nullptr) own->add(std::move(name), tap.value);
    return;
  }
  const std::size_t sharers = sharers_of(whole), rank = rank_in(tap.name);
  auto& [under, pieces] = shared[{rank / sharers, name.text()}];
  under = std::move(name);
  pieces.parameter = std::move(parameter);
  pieces.of_rank.resize(sharers);
  pieces.of_rank[rank % sharers] = &tap.value;
}

bool is_of(const Case& generation, const TapName& name) {
  const auto window = static_cast<std::size_t>(name.window);
  return name.window >= 0 && window < generation.windows.size() && trains_window(generation, window);
}

/// What was written down behind the last window of those that trained before, as any rank's trace has it.
void add_checkpoint(const Trace& of_first, Trace& own) {
  for (const Tap& tap : of_first.taps())
    if (tap.name.stage == StageName::checkpoint && tap.name.tensor.starts_with("in.")) own.add(tap.name, tap.value);
}

}  // namespace

RanksOfTrace::RanksOfTrace(const Case& the_whole, const Trace& trace, const RanksOfTrace* before)
    : whole(the_whole), traces(ranks_of(the_whole)) {
  for (std::size_t rank = 0; rank < traces.size(); ++rank) parts.push_back(part_of(whole, rank));
  for (Trace& own : traces) {
    own.claims = trace.claims;
    own.groups = trace.groups;
    own.case_hash = trace.case_hash;
    own.whole = &trace;
  }
  SharedTaps shared;
  for (const Tap& tap : trace.taps()) {
    const std::size_t rank = rank_in(tap.name);
    if (rank < traces.size() && is_of(whole, tap.name)) add_tap(whole, tap, shared, &traces[rank]);
  }
  const std::size_t sharers = sharers_of(whole);
  for (const auto& [key, each] : shared)
    if (const auto all = put_together(whole, each.second))
      for (std::size_t i = 0; i < sharers; ++i) traces[key.first * sharers + i].add(each.first, *all);
  for (Trace& own : traces)
    if (before != nullptr) add_checkpoint(before->traces.front(), own);
}

GenerationsOfTrace::GenerationsOfTrace(const Case& the_whole, const Trace& trace) : whole(the_whole) {
  if (!is_elastic(whole)) {
    all.emplace_back(whole, trace);
    return;
  }
  for (std::size_t i = 0; i < generations_of(whole).size(); ++i)
    all.emplace_back(cases.emplace_back(generation_of(whole, i)), trace, all.empty() ? nullptr : &all.back());
}

std::size_t GenerationsOfTrace::with(const std::string& tap) const {
  const auto name = tap_view_of(tap);
  for (std::size_t i = 0; name && i < all.size(); ++i)
    if (is_of(all[i].whole, tap_name_of(tap))) return i;
  return 0;
}

namespace {

void add_first_rank(const Case& whole, const Trace& trace, Trace& own) {
  SharedTaps shared;
  for (const Tap& tap : trace.taps())
    if (rank_in(tap.name) < sharers_of(whole) && is_of(whole, tap.name))
      add_tap(whole, tap, shared, tap.name.rank <= 0 ? &own : nullptr);
  for (const auto& [key, each] : shared)
    if (auto all = put_together(whole, each.second)) own.add(each.first, std::move(*all));
}

}  // namespace

Trace of_first_rank(const Case& whole, const Trace& trace) {
  Trace own;
  own.claims = trace.claims;
  if (!is_elastic(whole)) add_first_rank(whole, trace, own);
  for (std::size_t i = 0; is_elastic(whole) && i < generations_of(whole).size(); ++i)
    add_first_rank(generation_of(whole, i), trace, own);
  return own;
}

std::optional<Tensor> kept_by_group(const Case& whole, const Trace& all, const TapName& name, std::size_t group) {
  Pieces pieces{sharded_parameter(whole, name.stage, name.tensor, name.micro_batch), {}};
  const std::size_t sharers = sharers_of(whole);
  bool any = false;
  for (std::size_t i = 0; i < sharers; ++i) {
    const int rank = static_cast<int>(group * sharers + i);
    pieces.of_rank.push_back(all.find(of_rank(name, whole.dealt.empty() ? -1 : rank).view()));
    any = any || pieces.of_rank.back() != nullptr;
  }
  return any && !pieces.parameter.empty() ? put_together(whole, pieces) : std::nullopt;
}

std::size_t owner_of(const Case& whole, const TapName& name, const std::vector<std::int64_t>& element) {
  const std::string parameter = sharded_parameter(whole, name.stage, name.tensor, name.micro_batch);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < element.size() && !parameter.empty(); ++i)
    at = at * whole.tensors.at(parameter).shape[i] + element[i];
  for (std::size_t rank = 0; rank < sharers_of(whole) && !parameter.empty(); ++rank) {
    const ShardPiece piece = piece_of(whole, parameter, rank);
    if (at >= piece.first && at < piece.first + piece.count) return rank;
  }
  return 0;
}

Tensor own_piece(const Case& part, const std::string& parameter, const Tensor& tensor) {
  const ShardPiece piece = piece_of(whole_of(part), parameter, part.rank);
  Tensor own(tensor.dtype, {piece.count});
  const std::size_t width = size_of(tensor.dtype);
  const std::byte* from = tensor.bytes.data() + static_cast<std::size_t>(piece.first) * width;
  std::copy(from, from + static_cast<std::size_t>(piece.count) * width, own.bytes.data());
  return own;
}

bool same_behind_sum(const Trace& one, const Trace& other, int window, bool own_findings) {
  std::size_t here = 0;
  const auto counts = [=](const TapName& name) {
    if (own_findings && is_own_finding(name)) return false;
    if (name.stage == StageName::checkpoint) return false;  // written down by some ranks for all
    return name.window == window && name.micro_batch < 0 && part_of_window(name.stage, name.tensor) >= 2;
  };
  for (const Tap& tap : one.taps()) {
    if (!counts(tap.name)) continue;
    const Tensor* its = other.find(tap.name.view());
    if (its == nullptr || !(*its == tap.value)) return false;
    ++here;
  }
  const auto there = std::ranges::count_if(other.taps(), [&](const Tap& tap) { return counts(tap.name); });
  return here == static_cast<std::size_t>(there);
}

std::string RanksOfTrace::name_in_whole(const std::string& tap, std::size_t rank) const {
  const auto name = tap_view_of(tap);
  if (!name || whole.dealt.empty()) return tap;
  return of_rank(tap_name_of(tap), static_cast<int>(rank)).text();
}

std::size_t rank_of_tap(const std::string& tap) {
  const auto name = tap_view_of(tap);
  return name && name->rank >= 0 ? static_cast<std::size_t>(name->rank) : 0;
}

std::string without_rank(const std::string& tap) {
  const auto name = tap_view_of(tap);
  return name && name->rank >= 0 ? of_rank(tap_name_of(tap), -1).text() : tap;
}

}  // namespace tally
