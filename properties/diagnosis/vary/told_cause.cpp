// What makes a partition differ in meaning: other steps, or what these are handed.
#include <algorithm>
#include <cmath>

#include "properties/diagnosis/vary/causes.hpp"
#include "properties/diagnosis/vary/gap.hpp"
#include "properties/diagnosis/vary/runs.hpp"
#include "reports/record/record_kinds.hpp"

namespace tally {
namespace {

using Frozen = std::vector<std::string>;

/// Whether a step count differs, which tells the cause by itself.
std::optional<ToldCause> told_by_steps(RunBook& book, const VaryGap& gap, const Frozen& frozen) {
  const VaryRun* whole = book.run(whole_run(book.runs(), frozen));
  const VaryRun* parted = book.run(high_run(book.runs(), gap.sizes, frozen));
  if (whole->steps.empty() || parted->steps.empty() || whole->steps == parted->steps) return std::nullopt;
  const auto joined = [](const std::vector<int>& counts) {
    if (std::ranges::adjacent_find(counts, std::not_equal_to{}) == counts.end()) return std::to_string(counts.front());
    std::string text;
    for (const int count : counts) text += (text.empty() ? "" : ", ") + std::to_string(count);
    return text;
  };
  return ToldCause{"steps", {{"steps", joined(parted->steps)}, {"meant", joined(whole->steps)}}};
}

/// The first option that differs of a step up to this window.
std::optional<ToldCause> told_by_options(const RunBook& book, const HowWeights& how, int last) {
  const VaryRun* whole = book.found(whole_run(book.runs(), how.frozen));
  const VaryRun* parted = book.found(high_run(book.runs(), how.sizes, how.frozen));
  if (whole == nullptr || parted == nullptr) return std::nullopt;
  const double sharpness = sharpness_of(book.runs());
  const auto alike = [&](double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= sharpness * std::max(std::fabs(a), std::fabs(b));
  };
  const std::size_t windows =
      std::min({whole->options.size(), parted->options.size(), static_cast<std::size_t>(last) + 1});
  for (std::size_t w = 0; w < windows; ++w)
    for (std::size_t s = 0; s < std::min(whole->options[w].size(), parted->options[w].size()); ++s)
      for (const VaryOption& option : parted->options[w][s]) {
        const auto meant = std::ranges::find(whole->options[w][s], option.name, &VaryOption::name);
        if (meant == whole->options[w][s].end() || alike(option.value, meant->value)) continue;
        const auto [found_text, meant_text] = texts_apart(option.value, meant->value);
        return ToldCause{"options",
                         {{"step", "step " + std::to_string(s) + " of window " + std::to_string(w)},
                          {"term", option.name + " = " + found_text},
                          {"meant", meant_text}}};
      }
  return std::nullopt;
}

VaryCounts counts_of(const RunBook& book, const VaryWeights& weights) {
  const HowWeights& how = weights.how;
  VaryCounts counts;
  counts.rows.assign(weights.rows().begin(), weights.rows().end());
  counts.items = counts.rows, counts.ranks = how.sizes.ranks, counts.as_left = book.runs().kind == "script";
  const VaryRun* run = book.found(high_run(book.runs(), how.sizes, how.frozen));
  const auto window = static_cast<std::size_t>(how.window);
  if (run != nullptr && window < run->items.size() && run->items[window].size() == counts.rows.size())
    counts.items = run->items[window];
  const VaryRun* whole = book.found(whole_run(book.runs(), how.frozen));
  const auto seen = [&](const VaryRun* of, std::size_t many) {
    return of != nullptr && window < of->places.size() && of->places[window].size() == many;
  };
  if (seen(run, how.sizes.size()) && seen(whole, 1))
    counts.places = run->places[window], counts.whole_places = whole->places[window].front();
  return counts;
}

/// The cause by the term that counts most, in a fit with further terms.
std::optional<ToldCause> told_by_terms(const VaryWeights& weights, double sharpness) {
  if (weights.terms.empty() || !(weights.terms_rest <= sharpness)) return std::nullopt;
  const auto most =
      std::ranges::max_element(weights.terms, {}, [](const VaryTerm& term) { return std::fabs(term.weight); });
  if (!(std::fabs(most->weight) > sharpness)) return std::nullopt;
  const bool stale = most->name.find("gradient") != std::string::npos;
  const bool added = most->name.find("parameter") != std::string::npos;
  return ToldCause{stale   ? "stale gradient"
                   : added ? "parameters added"
                           : "another term",
                   {{"x", figure_text(most->weight)}, {"term", most->name}}};
}

/// Another partition, whose micro-batches are of several sizes: where the weights fit several formulas.
std::optional<Partition> telling_partition(const VaryRuns& runs, const Partition& failing) {
  if (runs.equal_only || failing.ranks > 1) return std::nullopt;
  for (const Partition& sizes : partitions_of(runs))
    if (!is_equal(sizes)) return sizes;
  return std::nullopt;
}

/// What a loop of one batch size leaves open.
std::string no_telling(const std::vector<std::string>& factors) {
  std::string text;
  for (const std::string& factor : factors) text += (text.empty() ? "" : ", ") + factor;
  return "with micro-batches of one size the weights fit several factors alike: " + text;
}

/// Whether a window that has fewer micro-batches than others is right but for a division by their number.
std::optional<ToldCause> told_by_short_window(const VaryWeights& weights, const VaryCounts& counts, double sharpness) {
  if (weights.dealt.empty() || weights.dealt.size() == weights.how.sizes.size()) return std::nullopt;
  const auto own = static_cast<double>(weights.dealt.size()), asked = static_cast<double>(weights.how.sizes.size());
  VaryWeights divided_by_own = weights;
  for (double& weight : divided_by_own.found) weight *= asked / own;
  const auto factors = factors_of_weights({counts, &divided_by_own}, sharpness);
  if (!are_as_meant(divided_by_own, sharpness) && std::ranges::find(factors, "N/(K n_k)") == factors.end())
    return std::nullopt;
  return ToldCause{
      "a short window",
      {{"window", "window " + std::to_string(weights.how.window)}, {"M", figure_text(own)}, {"K", figure_text(asked)}}};
}

/// What no gradient of these windows tells.
ToldCause told_by_the_rest(const RunBook& book, const HowWeights& how, ToldCause else_told) {
  return told_by_options(book, how, book.runs().windows).value_or(std::move(else_told));
}

bool is_order(const ToldCause& told) {
  return told.name == "each later counts more" || told.name == "each earlier counts more" ||
         told.name == "the last alone";
}

CauseNumbers first_is_silent(CauseNumbers numbers) {
  std::ranges::find(numbers, "k", &CauseNumbers::value_type::first)->second = "0";
  return numbers;
}

/// Whether it is an order, which single rows show: one of two micro-batches counts more in any case, or is alone. What
/// counts too little to be seen among these does so for those two. Nothing where weights are asked for.
std::optional<ToldCause> told_by_order(RunBook& book, const HowWeights& how, const ToldCause& told,
                                       std::optional<std::size_t> part) {
  const double sharpness = sharpness_of(book.runs());
  const Partition rows(static_cast<std::size_t>(book.runs().rows), 1);
  const VaryWeights* single = book.weights({rows, how.frozen, how.window});
  if (single == nullptr) return std::nullopt;
  const auto own = as_told(*single, part, sharpness);
  const bool alone = told.name == "the last alone";
  if (!own) return alone ? told : ToldCause{"weights", told.numbers};
  const std::string name = cause_of_weights({{counts_of(book, *single), &*own}}, sharpness).name;
  if (name == told.name || (told.name == "each later counts more" && counts_rise(*own, sharpness))) return told;
  if (alone) return name == "0" ? ToldCause{name, first_is_silent(told.numbers)} : told;
  return ToldCause{"weights", told.numbers};
}

/// The cause of weights that are not as meant, all of them or those of a term of the loss. Nothing where weights are
/// asked for.
std::optional<ToldCause> told_by_formulas(VaryReport& report, RunBook& book, const VaryWeights& weights,
                                          std::optional<std::size_t> part) {
  const double sharpness = sharpness_of(book.runs());
  const HowWeights& how = weights.how;
  std::vector<WeighedPartition> partitions{{counts_of(book, weights), &weights}};
  if (auto told = told_by_short_window(weights, partitions.front().counts, sharpness)) return told;
  std::optional<VaryWeights> further_one;
  const auto factors = factors_of_weights(partitions.front(), sharpness);
  const auto other = factors.size() > 1 ? telling_partition(book.runs(), how.sizes) : std::nullopt;
  if (factors.size() > 1 && !other) report.notes.push_back(no_telling(factors));
  if (other && *other != how.sizes) {
    const HowWeights uneven{*other, how.frozen, how.window};
    const VaryWeights* further = book.weights(uneven);
    const VaryCounts& counts = partitions.front().counts;
    const bool items_seen =
        counts.items == counts.rows || book.run(high_run(book.runs(), *other, how.frozen)) != nullptr;
    if (further == nullptr || !items_seen) return std::nullopt;
    if (further_one = as_told(*further, part, sharpness); further_one)
      partitions.push_back({counts_of(book, *further), &*further_one});
  }
  std::vector<VaryWeights> right;  // of partitions that pass: a formula by which one of them would fail is refuted
  right.reserve(report.gaps.size());
  for (const VaryGap& gap : report.gaps) {
    if (gap.kind != gap_kind::rounding || gap.sizes.ranks > 1 || how.sizes.ranks > 1) continue;
    VaryWeights& as_meant = right.emplace_back();
    as_meant.how = {gap.sizes, how.frozen, how.window};
    as_meant.found.assign(gap.sizes.size(), 1), as_meant.meant = as_meant.found;
    partitions.push_back({counts_of(book, as_meant), &as_meant});
  }
  const ToldCause told = cause_of_weights(partitions, sharpness);
  return is_order(told) && how.sizes.size() == 2 ? told_by_order(book, how, told, part) : told;
}

/// The cause in a loss whose terms have weights of their own.
std::optional<ToldCause> told_by_part(VaryReport& report, RunBook& book, const VaryWeights& weights, std::size_t part) {
  const double sharpness = sharpness_of(book.runs());
  const VaryWeights own = weights_of(weights, part);
  report.weights = own;
  std::optional<ToldCause> told;
  if (const VaryPart& term = weights.parts[part]; term.no_row) {
    told = ToldCause{"a term of no row", {{"x", figure_text(term.found.front() / term.meant.front())}}};
    report.weights.found.clear(), report.weights.meant.clear();
  } else {
    told = told_by_formulas(report, book, own, part);
  }
  if (told) told->whose = whose_text(weights, part, sharpness);
  return told;
}

/// Nothing where weights are asked for.
std::optional<ToldCause> told_by_weights(VaryReport& report, RunBook& book, HowWeights how) {
  const double sharpness = sharpness_of(book.runs());
  const VaryWeights* weights = book.weights(how);
  if (weights == nullptr) return std::nullopt;
  report.weights = *weights;
  if (weights->found.empty()) return told_by_the_rest(book, how, {"unknown", {}});
  const VaryRun* whole = book.found(whole_run(book.runs(), how.frozen));
  if (!(weights->meant_rest <= sharpness) && whole != nullptr)
    if (auto told = told_by_uncleared(*whole, how.window)) return told;
  const bool has_sums = weights->rest <= sharpness && weights->meant_rest <= sharpness;
  if (const auto part = has_sums ? std::nullopt : wrong_part(*weights, sharpness))
    return told_by_part(report, book, *weights, *part);
  if (!(weights->meant_rest <= sharpness))
    return ToldCause{"rows see each other", {{"x", figure_text(weights->meant_rest)}}};
  if (!(weights->rest <= sharpness)) {
    if (auto told = told_by_terms(*weights, sharpness)) return told;
    return ToldCause{"no sum of the micro-batches", {{"x", figure_text(weights->rest)}}};
  }
  if (are_as_meant(*weights, sharpness)) {
    if (auto told = told_by_options(book, how, how.window)) return told;
    const bool later = weights->names_window && how.window + 1 < book.runs().windows;
    if (!later)
      return told_by_the_rest(book, how,
                              {"behind the first step", {{"which", how.window > 0 ? "each step" : "the first step"}}});
    ++how.window;
    return told_by_weights(report, book, how);
  }
  return told_by_formulas(report, book, *weights, std::nullopt);
}

}  // namespace

std::optional<ToldCause> told_by_left_over(const VaryRun& whole, const VaryRun& parted) {
  for (const VaryLeftOver& left : parted.left_over)
    if (std::ranges::find(whole.left_over, left.window, &VaryLeftOver::window) == whole.left_over.end())
      return ToldCause{left.lost ? "lost rows" : "carried rows",
                       {{"left", std::to_string(left.rows)}, {"window", "window " + std::to_string(left.window)}}};
  return std::nullopt;
}

std::optional<ToldCause> told_by_dealing(const VaryRun& parted) {
  const auto window = [](int which) { return "window " + std::to_string(which); };
  if (const auto& early = parted.stepped_early)
    return ToldCause{
        "an early step",
        {{"M", std::to_string(early->behind)}, {"K", std::to_string(early->of)}, {"window", window(early->window)}}};
  if (const auto& repeated = parted.repeated)
    return ToldCause{"repeated rows",
                     {{"left", std::to_string(repeated->rows)},
                      {"times", repeated->times == 2 ? "twice" : std::to_string(repeated->times) + " times"},
                      {"window", window(repeated->window)}}};
  return std::nullopt;
}

std::optional<ToldCause> told_by_uncleared(const VaryRun& run, int window) {
  if (std::ranges::find(run.uncleared, window) == run.uncleared.end()) return std::nullopt;
  const std::string term =
      window > 0 ? "window " + std::to_string(window - 1) + "'s gradient" : "an earlier step's gradient";
  return ToldCause{"stale gradient", {{"x", "1"}, {"term", term}}};
}

/// The cause of a gap in nothing that an optimizer steps: what it is in.
std::optional<ToldCause> told_beside(const VaryGap& gap) {
  const auto differs = [](const VaryTensorGap& tensor) { return tensor.kind == gap_kind::meaning; };
  const auto wrong = [&](const VaryTensorGap& tensor) { return differs(tensor) && tensor.stepped; };
  if (std::ranges::any_of(gap.tensors, wrong) || std::ranges::none_of(gap.tensors, &VaryTensorGap::stepped))
    return std::nullopt;
  const auto count = std::ranges::count_if(gap.tensors, differs);
  return ToldCause{"kept beside",
                   {{"term", gap.tensor + (count > 1 ? " and " + std::to_string(count - 1) + " more" : "")}}};
}

std::optional<ToldCause> told_cause(VaryReport& report, RunBook& book, const VaryGap& gap, const Frozen& frozen) {
  if (gap.kind == gap_kind::not_finite) return ToldCause{"not finite", {{"term", gap.tensor}}};
  const VaryRun* run = book.found(high_run(book.runs(), gap.sizes, frozen));
  if (run != nullptr && !run->ranks_apart.empty()) return ToldCause{"ranks differ", {{"term", run->ranks_apart}}};
  if (auto told = told_by_steps(book, gap, frozen)) return told;
  auto told = told_by_weights(report, book, {gap.sizes, frozen, 0});
  const bool behind = told && (told->name == "behind the first step" || told->name == "unknown");
  if (const auto of_beside = behind ? told_beside(gap) : std::nullopt) {
    report.weights = {};  // they, and their place, are right
    return of_beside;
  }
  if (told && told->name == "behind the first step" && gap.in_high <= sharpness_of(book.runs()))
    told = ToldCause{"unknown", {}};  // the gap is smaller than what weights can show
  const auto beside = told && told->name != "options" ? told_by_options(book, {gap.sizes, frozen, 0}, 0) : std::nullopt;
  if (beside) report.notes.push_back(filled_in(vary_cause(beside->name).what, beside->numbers));
  return told;
}

void tell(VaryReport& report, const ToldCause& told) {
  const VaryCause& cause = vary_cause(told.name);
  report.verdict = "fail", report.cause = cause.name;
  report.what = (told.whose.empty() ? "" : told.whose + ": ") + filled_in(cause.what, told.numbers);
  report.change = told.change.empty() ? filled_in(cause.change, told.numbers) : told.change;
}

}  // namespace tally
