#include "properties/diagnosis/suspects/smoothed_loss.hpp"

#include <algorithm>
#include <cmath>

#include "properties/compare/class_targets.hpp"

namespace tally {
namespace {

SmoothedRow row_of(const double* z, std::size_t classes, std::size_t target, double smoothing) {
  SmoothedRow row;
  const double maximum = *std::max_element(z, z + classes);
  double sum = 0, all = 0;
  for (std::size_t i = 0; i < classes; ++i) sum += std::exp(z[i] - maximum);
  const auto nll = [&](std::size_t i) { return std::log(sum) - (z[i] - maximum); };
  for (std::size_t i = 0; i < classes; ++i) {
    all += nll(i);
    row.main_gradient.push_back((1 - smoothing) * (std::exp(-nll(i)) - (i == target ? 1 : 0)));
  }
  row.main = (1 - smoothing) * nll(target);
  row.spread = smoothing / static_cast<double>(classes) * all;
  return row;
}

}  // namespace

std::optional<std::vector<SmoothedRow>> smoothed_rows(const Evidence& evidence, int window, int micro_batch) {
  const Choice& loss = evidence.c.model.loss;
  if (loss.kind != "cross_entropy" || !loss.numbers("weight").empty()) return std::nullopt;
  const double smoothing = loss.number("label_smoothing").to_double();
  const auto z = evidence.tap(window, micro_batch, "loss", "in.y");
  const auto target = evidence.tap(window, micro_batch, "loss", "in.target");
  if (smoothing == 0 || !z || !target || target->empty()) return std::nullopt;
  const std::size_t classes = z->size() / target->size();
  if (!are_targets_of(loss, *target, classes)) return std::nullopt;
  const auto ignored = static_cast<double>(loss.integer("ignore_index"));
  std::vector<SmoothedRow> rows;
  for (std::size_t i = 0; i < target->size(); ++i) {
    const double t = (*target)[i];
    rows.push_back(t == ignored ? SmoothedRow{0, 0, Values(classes, 0.0)}
                                : row_of(z->data() + i * classes, classes, static_cast<std::size_t>(t), smoothing));
  }
  return rows;
}

}  // namespace tally
