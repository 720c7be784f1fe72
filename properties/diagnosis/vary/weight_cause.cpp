// Which cause the weights of micro-batches tell: as formulas of n_k, N, K, items and ranks.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "properties/diagnosis/explained.hpp"
#include "properties/diagnosis/vary/causes.hpp"

namespace tally {
namespace {

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// NaN is near nothing.
bool near(double a, double b, double sharpness) {
  return std::fabs(a - b) <= sharpness * std::max(std::fabs(a), std::fabs(b));
}

/// A micro-batch without an item weighs nothing either way.
bool says_nothing(const VaryWeights& weights, std::size_t k) { return weights.found[k] == 0 && weights.meant[k] == 0; }

double ratio_of(const VaryWeights& weights, std::size_t k) { return weights.found[k] / weights.meant[k]; }

bool is_silent(const VaryWeights& weights, std::size_t k, double sharpness) {
  return std::fabs(ratio_of(weights, k)) <= sharpness;
}

/// The counts that weights are held against: of rows where no items were seen, or where the loop divides by rows all
/// the same; else of items.
const std::vector<double>& counted_of(const VaryCounts& counts, bool rows) { return rows ? counts.rows : counts.items; }

bool all_alike(const std::vector<double>& values) {
  return std::ranges::adjacent_find(values, std::not_equal_to{}) == values.end();
}

/// Whether padding makes other counts than rows: where every row is as long, and the whole batch's as well, it does not.
bool is_padded(const VaryCounts& counts) {
  if (!(counts.whole_places > 0)) return false;
  for (std::size_t k = 0; k < counts.rows.size(); ++k)
    if (counts.places[k] * sum_of(counts.rows) != counts.whole_places * counts.rows[k]) return true;
  return false;
}

std::size_t rank_of(const VaryCounts& counts, std::size_t k) {
  return k * static_cast<std::size_t>(counts.ranks) / counts.rows.size();
}

/// The sum over the micro-batches of the rank that has micro-batch k.
double sum_of_rank(const VaryCounts& counts, const std::vector<double>& own, std::size_t k) {
  double all = 0;
  for (std::size_t i = 0; i < own.size(); ++i)
    if (rank_of(counts, i) == rank_of(counts, k)) all += own[i];
  return all;
}

/// Micro-batch k's factors by name. Those of counts are the search of captures as well.
std::map<std::string, double> factors_of(const VaryCounts& counts, std::size_t k, bool rows) {
  const std::vector<double>& own = counted_of(counts, rows);
  const double all = sum_of(own), ranks = counts.ranks;
  std::map<std::string, double> named{{"the other sign", -1}};
  if (counts.ranks > 1) {  // those of one rank were seen to be right
    named["R"] = ranks, named["1/R"] = 1 / ranks;
    if (const double of_rank = sum_of_rank(counts, own, k); of_rank > 0)
      named["N/n_r"] = all / of_rank, named["N/(R n_r)"] = all / of_rank / ranks;
    return named;
  }
  for (const NamedFactor& factor : factors_of_counts(static_cast<double>(own.size()), own[k], all))
    named[factor.name] = factor.value;
  if (!rows && counts.items != counts.rows && own[k] > 0)
    named["(n_k/N)/(t_k/T)"] = counts.rows[k] / sum_of(counts.rows) / (own[k] / all);
  if (!rows && is_padded(counts) && counts.places[k] > 0) {
    named["P/p_k"] = counts.whole_places / counts.places[k];
    named["P/(K p_k)"] = named["P/p_k"] / static_cast<double>(own.size());
  }
  return named;
}

/// Whether each micro-batch that says something has this factor, but for one of them all where `scale` is given.
bool fits(const WeighedPartition& partition, const std::string& name, bool rows, double sharpness,
          std::optional<double>* scale = nullptr) {
  const VaryWeights& weights = *partition.weights;
  bool any = false;
  for (std::size_t k = 0; k < weights.found.size(); ++k) {
    if (says_nothing(weights, k)) continue;
    const auto named = factors_of(partition.counts, k, rows);
    const auto factor = named.find(name);
    if (factor == named.end()) return false;
    if (scale != nullptr && !*scale) *scale = ratio_of(weights, k) / factor->second;
    if (!near(ratio_of(weights, k), factor->second * (scale == nullptr ? 1 : **scale), sharpness)) return false;
    any = true;
  }
  return any;
}

/// The micro-batch whose weight is farthest from the meant one.
std::size_t farthest(const VaryWeights& weights) {
  std::size_t found = 0;
  double most = -1;
  for (std::size_t k = 0; k < weights.found.size(); ++k) {
    const double off = std::fabs(ratio_of(weights, k) - 1);
    if (!(off <= most) && !says_nothing(weights, k)) found = k, most = off;
  }
  return found;
}

CauseNumbers numbers_of(const WeighedPartition& partition, bool rows) {
  const std::vector<double>& own = counted_of(partition.counts, rows);
  const std::size_t k = farthest(*partition.weights);
  const bool of_rows = rows || partition.counts.items == partition.counts.rows;
  return {{"K", std::to_string(own.size())},
          {"N", figure_text(sum_of(own))},
          {"n", figure_text(partition.counts.ranks > 1 ? sum_of_rank(partition.counts, own, k) : own[k])},
          {"rows", of_rows ? "rows" : "items"},
          {"R", std::to_string(partition.counts.ranks)},
          {"k", std::to_string(k)},
          {"p", partition.counts.places.empty() ? "p_k" : figure_text(partition.counts.places[k])},
          {"x", figure_text(ratio_of(*partition.weights, k))}};
}

std::optional<ToldCause> silent_cause(const WeighedPartition& partition, double sharpness) {
  const VaryWeights& weights = *partition.weights;
  std::vector<std::size_t> silent;
  std::size_t speaking = 0;
  bool all_of_one_rank = partition.counts.ranks > 1;
  for (std::size_t k = 0; k < weights.found.size(); ++k) {
    if (says_nothing(weights, k)) continue;
    const bool is_zero = is_silent(weights, k, sharpness);
    if (is_zero)
      silent.push_back(k);
    else
      ++speaking;
    all_of_one_rank = all_of_one_rank && is_zero == (rank_of(partition.counts, k) > 0);
  }
  if (silent.empty() || speaking == 0) return std::nullopt;
  CauseNumbers numbers = numbers_of(partition, false);
  if (all_of_one_rank) return ToldCause{"ranks apart", std::move(numbers)};
  std::ranges::find(numbers, "k", &CauseNumbers::value_type::first)->second = std::to_string(silent.front());
  const bool last_alone = speaking == 1 && silent.back() + 1 < weights.found.size();
  return ToldCause{last_alone ? "the last alone" : "0", std::move(numbers)};
}

/// A cause with a factor that all partitions have.
std::optional<ToldCause> formula_cause(const std::vector<WeighedPartition>& partitions, double sharpness) {
  for (const bool rows : {false, true}) {
    for (const VaryCause& cause : vary_causes()) {
      if (cause.factor.empty()) continue;
      const auto fit = [&](const WeighedPartition& each) { return fits(each, cause.factor, rows, sharpness); };
      if (std::ranges::all_of(partitions, fit)) return ToldCause{cause.name, numbers_of(partitions.front(), rows)};
    }
  }
  return std::nullopt;
}

constexpr const char* divide_by_all_that_counts =
    "divide each sum by all that counts in the window: `loss.sum() / window_items`";

CauseNumbers hidden_numbers(const WeighedPartition& partition) {
  CauseNumbers numbers = numbers_of(partition, false);
  for (auto& [key, value] : numbers) value = key == "n" ? "" : key == "rows" ? "items" : value;
  return numbers;
}

/// A division by counts that nobody saw.
std::optional<ToldCause> hidden_cause(const WeighedPartition& partition, double sharpness) {
  const VaryCounts& counts = partition.counts;
  const double count = static_cast<double>(counts.rows.size()), rows = sum_of(counts.rows);
  std::vector<double> of_rows;
  for (const double own : counts.rows) of_rows.push_back(own / rows);
  const std::pair<const char*, std::vector<double>> rules[] = {
      {"1/(K n_k)", std::vector<double>(counts.rows.size(), 1 / count)},
      {"1/n_k", std::vector<double>(counts.rows.size(), 1)},
      {"n_k/N of t_k", of_rows}};
  for (const auto& [name, factors] : rules) {
    const std::vector<double> shares = hidden_shares(partition, factors, sharpness);
    bool fits = !shares.empty() && counts.ranks == 1;
    for (std::size_t k = 0; fits && k < shares.size(); ++k)
      fits = says_nothing(*partition.weights, k) ||
             near(ratio_of(*partition.weights, k), factors[k] / shares[k], sharpness);
    if (fits) return ToldCause{name, hidden_numbers(partition), divide_by_all_that_counts};
  }
  return std::nullopt;
}

std::optional<ToldCause> scaled_cause(const WeighedPartition& partition, double sharpness) {
  for (const bool rows : {false, true}) {
    if (all_alike(counted_of(partition.counts, rows))) continue;
    std::optional<double> scale;
    if (fits(partition, "N/n_k", rows, sharpness, &scale))
      return ToldCause{"1/n_k and a factor", numbers_of(partition, rows)};
  }
  if (partition.counts.as_left || partition.counts.ranks > 1) return std::nullopt;
  const std::vector<double> shares = hidden_shares(partition, {}, sharpness);
  bool fit = std::ranges::any_of(shares, [&](double share) { return !near(share, shares[0], sharpness); });
  for (std::size_t k = 0; fit && k < shares.size(); ++k)
    fit = near(ratio_of(*partition.weights, k) * shares[k], ratio_of(*partition.weights, 0) * shares[0], sharpness);
  if (fit) return ToldCause{"1/n_k and a factor", hidden_numbers(partition), divide_by_all_that_counts};
  return std::nullopt;
}

/// Whether micro-batches hold other numbers of items, or of places, than their rows say: then what the weights follow may be
/// a count.
bool counts_vary(const VaryCounts& counts) {
  return (counts.items != counts.rows && !all_alike(counts.items)) || !all_alike(counts.places);
}

/// Where no formula fits: what the weights have in common. An order beside counts that differ is none.
std::string shape_of(const WeighedPartition& partition, double sharpness) {
  const VaryWeights& weights = *partition.weights;
  const bool ordered = !counts_vary(partition.counts);
  bool alike = true, constant = true, rising = true, falling = true;
  for (std::size_t k = 1; k < weights.found.size(); ++k) {
    const double before = ratio_of(weights, k - 1), here = ratio_of(weights, k);
    alike = alike && near(weights.meant[k - 1], weights.meant[k], sharpness) && before > 0 && here > 0;
    constant = constant && near(before, here, sharpness);
    rising = rising && before <= here * (1 + sharpness);
    falling = falling && here <= before * (1 + sharpness);
  }
  if (constant) return "a factor";
  return !ordered           ? "weights"
         : alike && rising  ? "each later counts more"
         : alike && falling ? "each earlier counts more"
                            : "weights";
}

}  // namespace

std::vector<std::string> factors_of_weights(const WeighedPartition& partition, double sharpness) {
  std::vector<std::string> names;
  for (const VaryCause& cause : vary_causes())
    if (!cause.factor.empty() &&
        (fits(partition, cause.factor, false, sharpness) || fits(partition, cause.factor, true, sharpness)))
      names.push_back(cause.factor);
  return names;
}

ToldCause cause_of_weights(const std::vector<WeighedPartition>& partitions, double sharpness) {
  const WeighedPartition& first = partitions.front();
  if (auto told = silent_cause(first, sharpness)) return *told;
  if (auto told = formula_cause(partitions, sharpness)) return *told;
  if (auto told = formula_cause({first}, sharpness)) return *told;
  if (auto told = hidden_cause(first, sharpness)) return *told;
  if (auto told = scaled_cause(first, sharpness)) return *told;
  const std::string shape = shape_of(first, sharpness);
  if (first.counts.ranks > 1 && shape != "a factor") return {"a scale of its rank", numbers_of(first, false)};
  return {shape == "weights" && has_a_scale_of_its_own(first, sharpness) ? "a scale of its own" : shape,
          numbers_of(first, false)};
}

bool counts_rise(const VaryWeights& weights, double sharpness) {
  const auto count = [&](std::size_t k) { return is_silent(weights, k, sharpness) ? 0 : ratio_of(weights, k); };
  bool any = false;
  for (std::size_t k = 1; k < weights.found.size(); ++k) {
    if (!(count(k - 1) <= count(k) * (1 + sharpness))) return false;
    any = any || !near(count(k - 1), count(k), sharpness);
  }
  return any;
}

bool are_as_meant(const VaryWeights& weights, double sharpness) {
  for (std::size_t k = 0; k < weights.found.size(); ++k)
    if (!near(weights.found[k], weights.meant[k], sharpness)) return false;
  return true;
}

}  // namespace tally
