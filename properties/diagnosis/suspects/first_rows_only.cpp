// The statistics are those of the first rows alone.
#include <limits>

#include "properties/diagnosis/suspect.hpp"
#include "properties/diagnosis/suspects/layer_at.hpp"

namespace tally {
namespace {

/// Every row of the window that this layer read, one after another.
Values rows_read(const Evidence& evidence, int window, const std::string& label) {
  Values all;
  for (int k = 0; k < evidence.micro_batches(window); ++k) {
    const auto x = evidence.tap(window, k, "forward", "in." + label + ".x").value_or(Values{});
    all.insert(all.end(), x.begin(), x.end());
  }
  return all;
}

/// The mean over so many first rows that it is nearest to what came.
std::optional<Values> left(const Evidence& evidence, const HeldTensor& held) {
  const auto layer = layer_at(evidence, held, "", "batch_norm", ".mean");
  if (!layer || held.name.micro_batch >= 0) return std::nullopt;
  const Values x = rows_read(evidence, held.name.window, label_of(evidence.c.model, *layer));
  const std::size_t features = held.got.size();
  Values sum(features, 0.0), nearest;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t row = 0; (row + 2) * features <= x.size(); ++row) {
    Values mean(features);
    double off = 0;
    for (std::size_t i = 0; i < features; ++i) {
      sum[i] += x[row * features + i];
      mean[i] = sum[i] / static_cast<double>(row + 1);
      off += (mean[i] - held.got[i]) * (mean[i] - held.got[i]);
    }
    if (off < least) least = off, nearest = mean;
  }
  if (nearest.empty()) return std::nullopt;
  return nearest;
}

const RegisterSuspect registered{{
    .name = "first-rows-only",
    .faults = {"bn-first-microbatch-statistics"},
    .stages = {"forward"},
    .sentence = "the window's statistics are those of its first rows alone, as of its first micro-batch",
    .formula = "μ = Σ x / r over the first r rows",
    .left = left,
    .parameters = 1,
}};

}  // namespace
}  // namespace tally
