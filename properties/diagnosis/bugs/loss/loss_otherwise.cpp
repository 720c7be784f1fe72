// A loss or its gradient with one thing done otherwise.
#include <cmath>

#include "oracle/case/kinds.hpp"
#include "oracle/graph/stage.hpp"
#include "properties/diagnosis/bug.hpp"
#include "properties/judge/loss_inputs.hpp"

namespace tally::loss_otherwise_bug {
namespace {

/// One micro-batch as the loss read it.
struct LossRead {
  Values y, target, softmax;   // softmax: of cross_entropy
  std::vector<double> weight;  // of the row: class or item weight, 0 where it is ignored
  std::vector<double> class_weight;
  std::size_t rows = 0, features = 0;
  double factor = 0, smoothing = 0;
  double logits_sum(std::size_t row) const {  // log Σ e^y
    double most = -INFINITY, sum = 0;
    for (std::size_t j = 0; j < features; ++j) most = std::fmax(most, y[row * features + j]);
    for (std::size_t j = 0; j < features; ++j) sum += std::exp(y[row * features + j] - most);
    return most + std::log(sum);
  }
};

std::optional<LossRead> read_of(const Evidence& evidence, const HeldTensor& held) {
  const Case& c = evidence.c;
  const int w = held.name.window, k = held.name.micro_batch;
  if (held.name.stage != StageName::loss || k < 0) return std::nullopt;
  const auto y = evidence.tap(w, k, "loss", "in.y"), target = evidence.tap(w, k, "loss", "in.target"),
             factor = evidence.tap(w, k, "loss", "in.factor");
  if (!y || !target || !factor || evidence.rows(w, k) == 0) return std::nullopt;
  LossRead read;
  read.y = *y, read.target = *target, read.factor = factor->front();
  read.rows = static_cast<std::size_t>(evidence.rows(w, k)), read.features = y->size() / read.rows;
  const std::int64_t first = first_row(c, static_cast<std::size_t>(w), static_cast<std::size_t>(k));
  for (std::size_t i = 0; i < read.rows; ++i) {
    read.weight.push_back(item_weight(c, first + static_cast<std::int64_t>(i)).to_double());
  }
  if (!are_targets_of(c.model.loss, *target, read.features)) return std::nullopt;
  if (c.model.loss.kind != kinds::cross_entropy) return read;
  read.smoothing = c.model.loss.number("label_smoothing").to_double();
  for (const Decimal& each : c.model.loss.numbers("weight")) read.class_weight.push_back(each.to_double());
  if (read.class_weight.empty()) read.class_weight.assign(read.features, 1);
  for (std::size_t i = 0; i < y->size(); ++i) {
    read.softmax.push_back(std::exp((*y)[i] - read.logits_sum(i / read.features)));
  }
  return read;
}

/// Element i of d.y, or row i of the loss.
struct Otherwise {
  const char *kind, *of;  // "d.y" or "loss"
  std::string sentence, formula;
  double (*left)(const LossRead& r, std::size_t i);
};

bool is_target(const LossRead& r, std::size_t i) { return r.target[i / r.features] == double(i % r.features); }

const std::vector<Otherwise>& cross_entropy_otherwise() {
  using R = LossRead;
  using I = std::size_t;
  static const std::vector<Otherwise> all{
      {"cross_entropy", "d.y", "the target is not subtracted", "dy = c w p",
       [](const R& r, I i) { return r.factor * r.weight[i / r.features] * r.softmax[i]; }},
      {"cross_entropy", "d.y", "the softmax is left out", "dy = -c w [target]",
       [](const R& r, I i) { return is_target(r, i) ? -r.factor * r.weight[i / r.features] : 0; }},
      {"cross_entropy", "d.y", "the logits stand for their softmax", "dy = c w (y - [target])",
       [](const R& r, I i) { return r.factor * r.weight[i / r.features] * (r.y[i] - is_target(r, i)); }},
      {"cross_entropy", "d.y", "the weight is left out, but ignored rows stay ignored", "dy = c (p - [target])",
       [](const R& r, I i) { return r.weight[i / r.features] == 0 ? 0 : r.factor * (r.softmax[i] - is_target(r, i)); }},
      {"cross_entropy", "d.y", "ignored rows are not ignored", "dy = c (p - [target])",
       [](const R& r, I i) { return r.factor * (r.softmax[i] - is_target(r, i)); }},
      {"cross_entropy", "d.y", "each class has its own weight, not the target's", "dy = c w_j (p - [target])",
       [](const R& r, I i) {
         const bool ignored = r.weight[i / r.features] == 0;
         return ignored ? 0 : r.factor * r.class_weight[i % r.features] * (r.softmax[i] - is_target(r, i));
       }},
      {"cross_entropy", "d.y", "the smoothing is spread over the other classes alone", "ε / (C - 1) for ε / C",
       [](const R& r, I i) {
         const double others = r.smoothing / (double(r.features) - 1);
         const double aimed = is_target(r, i) ? 1 - r.smoothing : others;
         return r.factor * r.weight[i / r.features] * (r.softmax[i] - aimed);
       }},
      {"cross_entropy", "loss", "the log of the sum is left out", "loss = -w y_t",
       [](const R& r, I i) { return -r.weight[i] * r.y[i * r.features + I(std::fmax(r.target[i], 0))]; }},
      {"cross_entropy", "loss", "the logit of the target is not subtracted", "loss = w log Σ e^y",
       [](const R& r, I i) { return r.weight[i] * r.logits_sum(i); }},
      {"cross_entropy", "loss", "the weight is left out", "loss = log Σ e^y - y_t",
       [](const R& r, I i) {
         return r.weight[i] == 0 ? 0 : r.logits_sum(i) - r.y[i * r.features + I(std::fmax(r.target[i], 0))];
       }},
      {"cross_entropy", "loss", "the logarithm is to the base 2", "loss / ln 2", [](const R& r, I i) {
         const double right = r.logits_sum(i) - r.y[i * r.features + I(std::fmax(r.target[i], 0))];
         return r.weight[i] * right / std::log(2.0);
       }}};
  return all;
}

const std::vector<Otherwise>& mse_otherwise() {
  using R = LossRead;
  using I = std::size_t;
  static const std::vector<Otherwise> all{
      {"mse", "d.y", "the target is not subtracted", "dy = 2 c w y / F",
       [](const R& r, I i) { return 2 * r.factor * r.weight[i / r.features] * r.y[i] / double(r.features); }},
      {"mse", "d.y", "the target is added", "dy = 2 c w (y + t) / F",
       [](const R& r, I i) {
         return 2 * r.factor * r.weight[i / r.features] * (r.y[i] + r.target[i]) / double(r.features);
       }},
      {"mse", "d.y", "only the sign of the difference is used", "dy = 2 c w sign(y - t) / F",
       [](const R& r, I i) {
         const double off = r.y[i] - r.target[i];
         return off == 0 ? 0 : std::copysign(2 * r.factor * r.weight[i / r.features] / double(r.features), off);
       }},
      {"mse", "d.y", "the weight of the row is left out", "dy = 2 c (y - t) / F",
       [](const R& r, I i) { return 2 * r.factor * (r.y[i] - r.target[i]) / double(r.features); }},
      {"mse", "loss", "the absolute difference is summed, not its square", "loss = w Σ |y - t| / F",
       [](const R& r, I i) {
         double sum = 0;
         for (I j = 0; j < r.features; ++j) sum += std::fabs(r.y[i * r.features + j] - r.target[i * r.features + j]);
         return r.weight[i] * sum / double(r.features);
       }},
      {"mse", "loss", "the weight of the row is left out", "loss = Σ (y - t)² / F", [](const R& r, I i) {
         double sum = 0;
         for (I j = 0; j < r.features; ++j) sum += std::pow(r.y[i * r.features + j] - r.target[i * r.features + j], 2);
         return sum / double(r.features);
       }}};
  return all;
}

std::vector<Hypothesis> ways(const Evidence& evidence) {
  std::vector<std::optional<LossRead>> reads;
  for (const HeldTensor& held : evidence.held) reads.push_back(read_of(evidence, held));
  std::vector<Hypothesis> all;
  for (const auto* others : {&cross_entropy_otherwise(), &mse_otherwise()}) {
    for (const Otherwise& other : *others) {
      if (evidence.c.model.loss.kind != other.kind) continue;
      Hypothesis way{{}, other.sentence, other.formula, 0};
      for (std::size_t t = 0; t < reads.size(); ++t) {
        std::optional<Values> left;
        if (reads[t] && evidence.held[t].name.tensor == other.of) {
          left = Values(evidence.held[t].got.size());
          for (std::size_t i = 0; i < left->size(); ++i) (*left)[i] = other.left(*reads[t], i);
        }
        way.left.push_back(std::move(left));
      }
      all.push_back(std::move(way));
    }
  }
  return all;
}

const RegisterBug registered{{
    .name = "loss-otherwise",
    .stages = {"loss"},
    .sentence = "a term of the loss or of its gradient is missing, misplaced or wrong",
    .formula = "dy = c w (softmax(y) - target), or 2 c w (y - t) / F, with one thing done otherwise",
    .remedy = "correct that term of the loss, or call `F.cross_entropy` or `F.mse_loss`",
    .hypotheses = ways,
}};

}  // namespace
}  // namespace tally::loss_otherwise_bug
