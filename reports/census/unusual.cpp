// How unusual it is that a right kernel uses as much of its bound, and what a run showed of every kernel.
#include "reports/census/unusual.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "reports/census/census.hpp"
#include "reports/record/record_kinds.hpp"
#include "reports/record/study.hpp"
#include "reports/text/text.hpp"

namespace tally {
namespace {

struct Quantile {
  const char* column;
  double tail;
};
constexpr Quantile quantiles[] = {{"median", 0.5}, {"90 %", 0.1}, {"99 %", 0.01}, {"99.9 %", 0.001}, {"99.99 %", 1e-4}};

const StudyColumn* column_of(const StudyTable& table, const std::string& name) {
  const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                  [&](const StudyColumn& column) { return column.name == name; });
  return found == table.columns.end() ? nullptr : &*found;
}

const StudyTable* table_of(const Results& results) {
  const StudyTable* found = nullptr;
  for (const Study& study : results.studies) {
    if (study.family != "bench" || study.name != "excess") continue;
    for (const StudyTable& table : study.tables)
      if (table.title == excess_table) found = &table;
  }
  return found;
}

/// Empty where the table is not as the study writes it.
std::vector<UsualExcess> rows_of(const StudyTable& table) {
  const StudyColumn *operations = column_of(table, "operation"), *formats = column_of(table, "format");
  const StudyColumn *tensors = column_of(table, "tensors"), *most = column_of(table, "most");
  if (!operations || !formats || !tensors || !most) return {};
  const std::size_t count = operations->words.size();
  std::vector<UsualExcess> rows;
  for (std::size_t i = 0; i < count; ++i) {
    if (formats->words.size() != count || tensors->numbers.size() != count || most->numbers.size() != count) return {};
    UsualExcess row{operations->words[i], formats->words[i], tensors->numbers[i], {}, {}};
    for (const auto& [name, tail] : quantiles) {
      const StudyColumn* column = column_of(table, name);
      if (!column || column->numbers.size() != count) return {};
      if (tail * row.tensors < 2) continue;  // one tensor is the most
      row.tail.push_back(tail), row.excess.push_back(column->numbers[i]);
    }
    row.tail.push_back(1 / std::max(row.tensors, 1.0)), row.excess.push_back(most->numbers[i]);
    rows.push_back(std::move(row));
  }
  return rows;
}

/// The study's quantiles are lower edges of bins an eighth of an octave wide: what lies in a bin counts from its edge,
/// so that nothing is called rarer than it is.
double lower_edge(double excess) {
  int octave = 0;
  const double part = std::frexp(excess, &octave);  // of [1/2, 1)
  return std::ldexp(std::floor(part * 16) / 16, octave);
}

/// Between two quantiles on a straight line in the logarithm of the share.
double share_in(const UsualExcess& row, double excess) {
  if (!(excess > 0)) return 1;
  if (excess > row.excess.back()) return 1 / (row.tensors + 1);
  double tail = 1, from = 0;
  excess = lower_edge(excess);
  for (std::size_t i = 0; i < row.tail.size(); ++i) {
    if (excess <= row.excess[i]) {
      const double part = row.excess[i] > from ? (excess - from) / (row.excess[i] - from) : 1;
      return tail * std::pow(row.tail[i] / tail, part);
    }
    tail = row.tail[i], from = row.excess[i];
  }
  return tail;
}

struct Rank {
  double share = 1, excess = 0;
};

}  // namespace

double usual_at(const UsualExcess& row, double share) {
  for (std::size_t i = 0; i < row.tail.size(); ++i)
    if (row.tail[i] <= share) return row.excess[i];
  return row.excess.back();
}

Usual::Usual(const Results& results) {
  const StudyTable* table = table_of(results);
  if (table == nullptr) return;
  for (UsualExcess& row : rows_of(*table)) rows_.emplace(std::pair(row.operation, row.format), std::move(row));
}

const UsualExcess* Usual::row(const std::string& operation, const std::string& format) const {
  auto found = rows_.find({operation, format});
  if (found == rows_.end()) found = rows_.find({"all", format});
  return found == rows_.end() ? nullptr : &found->second;
}

double Usual::share(const std::string& operation, const std::string& format, double excess) const {
  const UsualExcess* found = row(operation, format);
  return found == nullptr ? 1 : share_in(*found, excess);
}

std::string Usual::text(const std::string& operation, const std::string& format, double excess) const {
  const UsualExcess* found = row(operation, format);
  if (found == nullptr || !(excess > 0)) return "";
  const double share = share_in(*found, excess);
  if (excess > found->excess.back()) return "beyond all of " + counted(std::llround(found->tensors), "clean tensor");
  return "1 in " + grouped(static_cast<std::uint64_t>(std::llround(1 / share))) + " clean tensors";
}

const OperationRecord* most_unusual(const CaseRecord& c, const Usual& usual) {
  const OperationRecord* found = nullptr;
  Rank least;
  for (const OperationRecord& o : c.operations) {
    if (!(o.standing.excess > 0)) continue;
    const Rank rank{usual.share(o.operation, o.standing.format, o.standing.excess), o.standing.excess};
    if (found != nullptr && std::tuple(rank.share, -rank.excess) >= std::tuple(least.share, -least.excess)) continue;
    found = &o, least = rank;
  }
  return found;
}

double used_of(const CaseRecord& c, const Usual& usual) {
  if (c.status == Status::fail || c.formats.empty()) return ratio_of(c);
  const OperationRecord* o = most_unusual(c, usual);
  return o == nullptr ? 0 : o->standing.excess;
}

std::vector<const CaseRecord*> by_unusualness(const Results& results, const Usual& usual) {
  std::map<const CaseRecord*, Rank> ranks;
  for (const CaseRecord& c : results.cases) {
    const OperationRecord* o = c.status == Status::pass ? most_unusual(c, usual) : nullptr;
    if (o != nullptr)
      ranks[&c] = {usual.share(o->operation, o->standing.format, o->standing.excess), o->standing.excess};
  }
  auto cases = by_severity(results);
  const auto is_passing = [](const CaseRecord* c) { return c->status == Status::pass; };
  const auto first = std::find_if(cases.begin(), cases.end(), is_passing);
  const auto last = std::find_if_not(first, cases.end(), is_passing);
  std::stable_sort(first, last, [&](const CaseRecord* a, const CaseRecord* b) {
    const Rank x = ranks.contains(a) ? ranks.at(a) : Rank{}, y = ranks.contains(b) ? ranks.at(b) : Rank{};
    return std::tuple(x.share, -x.excess) < std::tuple(y.share, -y.excess);
  });
  return cases;
}

namespace {

using Key = std::tuple<std::string, std::string, std::string>;

struct Gathered {
  KernelResult result;
  std::set<std::string> shapes;
};

void add_operation(Gathered& kernel, const CaseRecord& c, const OperationRecord& o, const Usual& usual) {
  const OperationStanding& standing = o.standing;
  KernelResult& result = kernel.result;
  ++result.cases, result.checks += standing.checks, result.vacuous += standing.vacuous;
  std::istringstream shapes(standing.shapes);
  for (std::string shape; shapes >> shape;) kernel.shapes.insert(shape);
  result.ratio = std::max(result.ratio, standing.ratio),
  result.roundings = std::max(result.roundings, standing.roundings);
  const bool nearer = standing.excess > result.excess,
             same = result.worst && standing.excess == result.excess && c.id < result.worst->id;
  if (!nearer && !same) return;
  result.excess = standing.excess, result.worst = &c;
  result.share = usual.share(o.operation, standing.format, standing.excess);
}

/// How many ways of its launches there are, and were taken, by "operation/variant".
std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> paths_of(const Results& results) {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> paths;
  for (const TriggerRecord& trigger : results.triggers) {
    if (trigger.kind != trigger_kind::path) continue;
    auto& [all, seen] = paths[trigger.name.substr(0, trigger.name.find(','))];
    ++all, seen += trigger.seen > 0;
  }
  return paths;
}

}  // namespace

std::vector<KernelResult> kernel_results(const Results& results, const Usual& usual) {
  std::map<Key, Gathered> kernels;
  for (const CaseRecord& c : results.cases) {
    for (const OperationRecord& o : c.operations) {
      if (o.standing.checks == 0) continue;
      Gathered& kernel = kernels[{o.operation, o.variant, o.standing.format}];
      kernel.result.operation = o.operation, kernel.result.variant = o.variant;
      kernel.result.format = o.standing.format;
      add_operation(kernel, c, o, usual);
    }
  }
  const auto paths = paths_of(results);
  std::vector<KernelResult> out;
  for (auto& [key, kernel] : kernels) {
    KernelResult& result = out.emplace_back(std::move(kernel.result));
    result.shapes = kernel.shapes.size();
    const bool fused = result.variant.find('/') != std::string::npos;  // "clip_decay_step/multi_tensor"
    if (const auto found = paths.find(fused ? result.variant : result.name()); found != paths.end())
      std::tie(result.paths, result.paths_seen) = found->second;
  }
  std::stable_sort(out.begin(), out.end(), [](const KernelResult& a, const KernelResult& b) {
    return std::tuple(a.share, -a.excess) < std::tuple(b.share, -b.excess);
  });
  return out;
}

}  // namespace tally
