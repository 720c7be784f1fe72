// Stages that leave no taps between them, judged together.
#include "properties/judge/groups.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <unordered_set>

#include "oracle/case/ranks.hpp"
#include "oracle/graph/stage.hpp"
#include "properties/judge/certified.hpp"
#include "properties/judge/lens.hpp"
#include "properties/lenses/walk.hpp"

namespace tally {
namespace {

bool is_missing(const TensorCheck& check) { return check.status == Status::not_run; }

/// The taps whose outputs the local lens judged.
std::set<std::string> judged_by(const std::vector<TensorCheck>& local) {
  std::set<std::string> taps;
  for (const TensorCheck& check : local) {
    if (!is_missing(check)) taps.insert(check.tap);
  }
  return taps;
}

class Groups {
 public:
  Groups(const Trace& trace, Grouping grouping, const Walk& local, const Walk& walk)
      : trace_(trace), grouping_(grouping), local_(local), ended_(walk.ended), cones_(walk.c, walk.checks) {}

  /// A missing tap that a group makes up for.
  bool makes_up_for(const std::string& tap) const {
    const TapName name = tap_name_of(tap);
    const StageGroup* group = group_of(name.stage);
    if (grouping_ == Grouping::declared && group == nullptr) return false;
    const bool skipped = !ended_ && cones_.cone(tap).empty();  // no such stage ran, as far as the taps show
    if (!skipped && !(cones_.covers(tap) && allowed(tap))) return false;
    return grouping_ == Grouping::inferred || !local_.unread.contains(tap) || read_elsewhere(name, *group);
  }

  /// Everything that the tap is judged through lies in one declared group of its window.
  bool allowed(const std::string& tap) const {
    if (grouping_ == Grouping::inferred) return true;
    const std::vector<StageRun> cone = cones_.cone(tap);
    const TapName name = tap_name_of(tap);
    const StageGroup* group = group_of(name.stage);
    if (cone.size() < 2) return true;
    return group != nullptr && std::all_of(cone.begin(), cone.end(), [&](const StageRun& run) {
             return run.window == name.window && group->holds(run.stage);
           });
  }

  std::string label(const std::string& tap) const { return cones_.label(tap); }
  bool alone(const std::string& tap) const { return cones_.cone(tap).size() < 2; }

 private:
  const StageGroup* group_of(const std::string& stage) const {
    for (const StageGroup& group : trace_.groups) {
      if (group.holds(stage)) return &group;
    }
    return nullptr;
  }

  /// Another stage of the group tapped this input: a fused kernel reads it once.
  bool read_elsewhere(TapName name, const StageGroup& group) const {
    const std::string own = name.stage;
    return std::any_of(stages_in_order.begin(), stages_in_order.end(), [&](std::string_view stage) {
      name.stage = stage;
      return stage != own && group.holds(stage) && trace_.find(name.view()) != nullptr;
    });
  }

  const Trace& trace_;
  const Grouping grouping_;
  const Walk& local_;
  const bool ended_;
  StageCones cones_;
};

double squared_norm(const auto& matrix) { return static_cast<double>(matrix.squaredNorm()); }

/// What a parameter was when its window began: a tap, or what the walk expects of it, or the case's tensor.
oracle::Matrix<long double> before_step(const Walk& walk, const TapName& name) {
  for (int window = name.window - 1; window >= 0; --window) {
    const TapName last{window, -1, name.stage, name.tensor};
    if (const Tensor* tapped = walk.trace.find(last.view())) return oracle::as_read(*tapped).v;
    if (const auto known = walk.expected->find(last.text()); known != walk.expected->end()) return known->second.v;
  }
  return oracle::as_read(walk.c.tensors.at(name.tensor)).v;
}

/// A parameter is rounded by the decay and by the step, each in fp32 and as it is stored.
constexpr double roundings_of_a_parameter = 4;

/// Whether the bound of a parameter admits that its window took no step, or one the other way: then nothing is shown of
/// the stages between. Parameters that should not move are left out, and so are steps lost in the parameter's own
/// rounding, as of a bias before batch_norm: no tap would show more of them.
bool admits_no_step(const Walk& walk, const TensorCheck& check) {
  const TapName name = tap_name_of(check.tap);
  const bool parameter =
      name.stage == StageName::optimizer && std::count(walk.parameters.begin(), walk.parameters.end(), name.tensor) > 0;
  if (!parameter || check.status != Status::pass || !(check.norm_bound > 0)) return false;
  const auto known = walk.expected->find(check.tap);
  if (known == walk.expected->end()) return false;
  const oracle::Matrix<long double>& after = known->second.v;
  const oracle::Matrix<long double> before = before_step(walk, name);
  if (before.size() != after.size()) return false;
  const double u = oracle::format_of(walk.c.precision.master).unit_roundoff();
  if (check.norm_bound <= roundings_of_a_parameter * u * check.norm_expected) return false;
  const double step = squared_norm(after.reshaped<Eigen::RowMajor>() - before.reshaped<Eigen::RowMajor>());
  return step > 0 && check.norm_bound * check.norm_bound >= step;
}

void add_groups(GroupedChecks& found, const Groups& groups, const std::set<std::string>& judged,
                const std::vector<TensorCheck>& outputs) {
  for (TensorCheck check : outputs) {
    if (is_missing(check) || !groups.allowed(check.tap)) continue;
    const std::string label = groups.label(check.tap);
    const bool alone = groups.alone(check.tap);
    if (alone && judged.contains(check.tap)) continue;
    check.stage = label;
    if (!alone && !std::count(found.groups.begin(), found.groups.end(), label)) found.groups.push_back(label);
    found.checks.push_back(std::move(check));
  }
}

}  // namespace

namespace {

/// No stage has written yet what stands in the case: running statistics move with every micro-batch, others with a
/// window.
bool reads_first(const TapName& name) {
  return name.window == 0 && (name.stage != StageName::running_stats || name.micro_batch <= 0);
}

/// An input whose producer left no tap is held to what the walk expects of that output. Where nothing is known of the
/// output, the input could hold any number, and is named.
void judge_inputs(const Walk& walk, const std::map<std::string, oracle::Expected>& expected, const Groups& groups,
                  GroupedChecks& found) {
  std::unordered_set<std::string> judged;
  for (const TensorCheck& check : found.checks) judged.insert(check.tap);
  const WindowGraph graph(walk.c);
  for (const Tap& tap : walk.trace.taps()) {
    const std::string name = tap.name.text();
    if (judged.contains(name) || !tap.name.tensor.starts_with("in.")) continue;
    if (is_given(walk.c.model, tap.name.stage)) continue;
    if (!trains_window(walk.c, static_cast<std::size_t>(tap.name.window))) continue;  // those before wrote it down
    Place place{"group", name, tap.name.stage};
    const oracle::Expected* known = nullptr;
    for (const TapName& producer : producers_of(walk.c, graph, tap.name)) {
      const auto left = expected.find(producer.text());
      if (left == expected.end()) continue;
      known = &left->second;
      place.stage = groups.label(left->first);
      break;
    }
    const auto given = walk.c.tensors.find(tap.name.tensor.substr(std::string("in.").size()));
    if (known == nullptr && reads_first(tap.name) && given != walk.c.tensors.end()) {
      found.checks.push_back(bitwise_check(name, tap.name.stage, given->second, tap.value));
      continue;
    }
    const bool fits = known != nullptr && static_cast<std::size_t>(known->v.size()) == tap.value.elements();
    found.checks.push_back(fits ? judge(place, *known, tap.value) : not_run({"local", name, tap.name.stage}));
  }
}

/// One trace, or one rank's, under both lenses and, where taps are missing, that of groups.
class Lenses {
 public:
  Lenses(const Case& c, const Trace& trace, const GoneThrough& told, BehindTheSum* shared = nullptr)
      : c_(c), trace_(trace), local_(c, trace, Lens::local) {
    local_.gone_through = told;
    const bool watched = JudgeObserver::present() || wants_expectations();
    if (c.rank == 0)
      local_.first = shared;
    else if (!watched)
      local_.like_first = shared;
    walk_all_and_sample(local_);
    found_.checks = in_order(trace, std::move(local_.checks));
  }

  /// What the local lens said.
  const std::vector<TensorCheck>& local() const { return found_.checks; }

  GroupedChecks with(std::vector<TensorCheck> end_to_end, Grouping grouping) {
    const bool complete = std::none_of(found_.checks.begin(), found_.checks.end(), is_missing);
    const bool grouped = !complete && (grouping == Grouping::inferred || !trace_.groups.empty());
    if (grouped) return in_groups(std::move(end_to_end), grouping);
    add(std::move(end_to_end));
    return std::move(found_);
  }

 private:
  void add(std::vector<TensorCheck> end_to_end) {
    found_.checks.insert(found_.checks.end(), std::move_iterator(end_to_end.begin()),
                         std::move_iterator(end_to_end.end()));
  }

  GroupedChecks in_groups(std::vector<TensorCheck> end_to_end, Grouping grouping) {
    Walk walk(c_, trace_, Lens::group);
    std::map<std::string, oracle::Expected> expected;
    walk.expected = &expected;
    walk.know_local(found_.checks);
    walk_all(walk);
    const Groups groups(trace_, grouping, local_, walk);
    if (grouping == Grouping::inferred) {
      for (std::vector<TensorCheck>* checks : {&walk.checks, &end_to_end})
        for (TensorCheck& check : *checks)
          if (admits_no_step(walk, check)) check.status = Status::vacuous;
    }
    add_groups(found_, groups, judged_by(found_.checks), walk.checks);
    add(std::move(end_to_end));
    std::erase_if(found_.checks,
                  [&](const TensorCheck& check) { return is_missing(check) && groups.makes_up_for(check.tap); });
    if (grouping == Grouping::inferred) judge_inputs(walk, expected, groups, found_);
    found_.checks = in_order(trace_, std::move(found_.checks));
    return std::move(found_);
  }

  const Case& c_;
  const Trace& trace_;
  Walk local_;
  GroupedChecks found_;
};

GroupedChecks both_lenses(const Case& c, const Trace& trace, Grouping grouping, const GoneThrough& told) {
  Lenses lenses(c, trace, told);
  std::vector<TensorCheck> end_to_end = end_to_end_after(c, trace, lenses.local());
  return lenses.with(std::move(end_to_end), grouping);
}

/// The checks of one generation, from what the one before left behind; `between` is nullptr where the number of ranks
/// never changes. `sampled` is told what is expected of the first rank, or nullptr.
std::vector<GroupedChecks> lenses_of_ranks(const RanksOfTrace& ranks, Grouping grouping, LeftBehind* between,
                                           ExpectedTraining* sampled) {
  BehindTheSum shared;
  std::deque<Lenses> lenses;
  std::deque<Walk> walks;
  for (std::size_t rank = 0; rank < ranks.count(); ++rank) {
    lenses.emplace_back(ranks.parts[rank], ranks.traces[rank], GoneThrough{}, &shared);
    walks.emplace_back(ranks.parts[rank], ranks.traces[rank], Lens::end_to_end).know_local(lenses.back().local());
  }
  if (sampled != nullptr) walks.front().expected = &sampled->expected;
  walk_ranks(walks, between);
  if (sampled != nullptr) {
    sampled->traces.push_back(&ranks.traces.front());
    sampled->decided = sampled->decided && is_decided(walks.front());
  }
  std::vector<GroupedChecks> found;
  for (std::size_t rank = 0; rank < ranks.count(); ++rank) {
    const Trace& trace = ranks.traces[rank];
    found.push_back(lenses[rank].with(in_order(trace, std::move(walks[rank].checks)), grouping));
    if (grouping == Grouping::declared) name_absent_stage(ranks.parts[rank], trace, found.back().checks);
  }
  return found;
}

}  // namespace

std::vector<std::vector<GroupedChecks>> hard_lenses(const GenerationsOfTrace& generations, Grouping grouping) {
  const bool certifies = wants_expectations(), changes = generations.all.size() > 1;
  std::vector<std::vector<GroupedChecks>> found;
  LeftBehind between;
  ExpectedTraining first;
  for (const RanksOfTrace& ranks : generations.all)
    found.push_back(lenses_of_ranks(ranks, grouping, changes ? &between : nullptr, certifies ? &first : nullptr));
  if (certifies) certify_ranks(generations.whole, first);
  return found;
}

GroupedChecks hard_lenses(const Case& c, const Trace& trace, Grouping grouping, const GoneThrough& told) {
  if (in_ranks(c) && c.whole == nullptr) {
    const GenerationsOfTrace generations(c, trace);
    return {checks_of_whole(generations, trace, hard_lenses(generations, grouping)), {}};
  }
  GroupedChecks found = both_lenses(c, trace, grouping, told);
  if (grouping == Grouping::declared) name_absent_stage(c, trace, found.checks);
  return found;
}

}  // namespace tally
