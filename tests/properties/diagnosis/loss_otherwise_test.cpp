// Every term of a loss and of its gradient done otherwise, in the bits that every micro-batch leaves: its suspect says so.
#include <numeric>

#include "properties/diagnosis/diagnose.hpp"
#include "properties/diagnosis/evidence.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::loss_otherwise_test {
namespace {

/// What the loss reads of a row: the outputs y, their targets t (of classes 1 for the target, else 0), the weights of
/// the classes, that of the row, the factor c.
struct Row {
  Values y, t, classes;
  double w, c;

  double features() const { return static_cast<double>(y.size()); }
  double sum(double (*of)(double y, double t)) const {
    return std::transform_reduce(y.begin(), y.end(), t.begin(), 0.0, std::plus(), of);
  }
  double log_sum() const {
    return std::log(sum([](double each, double) { return std::exp(each); }));
  }
  double softmax(std::size_t j) const { return std::exp(y[j] - log_sum()); }
  double of_target() const {
    return sum([](double each, double target) { return each * target; });
  }
};

using Ways = std::map<std::string, double (*)(const Row& row, std::size_t j)>;
constexpr double smoothing = 0.125;

const Ways cross_entropy_gradients{
    {"the target is not subtracted", [](const Row& r, std::size_t j) { return r.c * r.w * r.softmax(j); }},
    {"the softmax is left out", [](const Row& r, std::size_t j) { return -r.c * r.w * r.t[j]; }},
    {"the logits stand for their softmax", [](const Row& r, std::size_t j) { return r.c * r.w * (r.y[j] - r.t[j]); }},
    {"the weight is left out, but ignored rows stay ignored",
     [](const Row& r, std::size_t j) { return r.w == 0 ? 0 : r.c * (r.softmax(j) - r.t[j]); }},
    {"ignored rows are not ignored", [](const Row& r, std::size_t j) { return r.c * (r.softmax(j) - r.t[j]); }},
    {"each class has its own weight, not the target's",
     [](const Row& r, std::size_t j) { return r.w == 0 ? 0 : r.c * r.classes[j] * (r.softmax(j) - r.t[j]); }}};

const Ways smoothed_gradients{{"the smoothing is spread over the other classes alone", [](const Row& r, std::size_t j) {
                                 const double aimed = r.t[j] == 1 ? 1 - smoothing : smoothing / (r.features() - 1);
                                 return r.c * r.w * (r.softmax(j) - aimed);
                               }}};

const Ways cross_entropies{
    {"the log of the sum is left out", [](const Row& r, std::size_t) { return -r.w * r.of_target(); }},
    {"the logit of the target is not subtracted", [](const Row& r, std::size_t) { return r.w * r.log_sum(); }},
    {"the weight is left out", [](const Row& r, std::size_t) { return r.w == 0 ? 0 : r.log_sum() - r.of_target(); }},
    {"the logarithm is to the base 2",
     [](const Row& r, std::size_t) { return r.w * (r.log_sum() - r.of_target()) / std::log(2.0); }}};

const Ways square_gradients{
    {"the target is not subtracted", [](const Row& r, std::size_t j) { return 2 * r.c * r.w * r.y[j] / r.features(); }},
    {"the target is added",
     [](const Row& r, std::size_t j) { return 2 * r.c * r.w * (r.y[j] + r.t[j]) / r.features(); }},
    {"only the sign of the difference is used",
     [](const Row& r, std::size_t j) { return std::copysign(2 * r.c * r.w / r.features(), r.y[j] - r.t[j]); }},
    {"the weight of the row is left out",
     [](const Row& r, std::size_t j) { return 2 * r.c * (r.y[j] - r.t[j]) / r.features(); }}};

const Ways squares{{"the absolute difference is summed, not its square",
                    [](const Row& r, std::size_t) {
                      return r.w * r.sum([](double y, double t) { return std::fabs(y - t); }) / r.features();
                    }},
                   {"the weight of the row is left out", [](const Row& r, std::size_t) {
                      return r.sum([](double y, double t) { return (y - t) * (y - t); }) / r.features();
                    }}};

const Values weights{0.5, 1.25, 2};

Case of_classes(const char* label_smoothing) {
  Case c = normal_case(7);
  Options options{{"label_smoothing", Decimal{label_smoothing}}};
  if (Decimal{label_smoothing}.to_double() == 0) options["weight"] = std::vector<Decimal>{{"0.5"}, {"1.25"}, {"2"}};
  c.model.loss = choice_of("loss", "cross_entropy", options);
  return c;
}

Case of_weighed_rows() {
  Case c = mlp(7);
  c.model.loss = choice_of("loss", "mse", {{"item_weights", true}});
  Tensor& weight = c.tensors["item_weight"] = Tensor(Dtype::i64, {rows_of(c)});
  for (std::size_t i = 0; i < weight.elements(); ++i) weight.set(i, 1 + static_cast<double>(i % 3));
  return c;
}

Row row_of(const Case& c, const Trace& trace, TapName at, std::size_t i) {
  const auto read = [&](const char* tensor) -> const Tensor& {
    at.tensor = tensor;
    return *trace.find(at.view());
  };
  const Tensor &y = read("in.y"), &target = read("in.target");
  const auto features = static_cast<std::size_t>(y.shape[1]);
  Row row{{}, {}, weights, 0, read("in.factor").value(0)};
  for (std::size_t j = 0; j < features; ++j) {
    row.y.push_back(y.value(i * features + j));
    row.t.push_back(target.dtype != Dtype::i64 ? target.value(i * features + j) : target.value(i) == double(j) ? 1 : 0);
  }
  const std::int64_t first =
      first_row(c, static_cast<std::size_t>(at.window), static_cast<std::size_t>(at.micro_batch));
  row.w = item_weight(c, first + static_cast<std::int64_t>(i)).to_double();
  return row;
}

void expect_named(const Case& c, const std::string& tensor, const Ways& ways) {
  const Trace trace = run(c);
  for (const auto& [said, left] : ways) {
    const Trace wrong = altered(trace, [&, left = left](const Tap& tap) -> std::optional<Tensor> {
      if (tap.name.stage != "loss" || tap.name.tensor != tensor) return std::nullopt;
      Tensor other = tap.value;
      const std::size_t each = tensor == "loss" ? 1 : static_cast<std::size_t>(other.shape[1]);
      for (std::size_t i = 0; i < other.elements(); ++i)
        other.set(i, left(row_of(c, trace, tap.name, i / each), i % each));
      return other;
    });
    const std::vector<Suspicion> suspects = diagnose(c, wrong, local_lens(c, wrong));
    EXPECT_TRUE(std::ranges::any_of(
        suspects, [&](const Suspicion& s) { return s.name == "loss-otherwise" && s.sentence == said; }))
        << said << ", not " << (suspects.empty() ? "none" : suspects.front().name + ": " + suspects.front().sentence);
  }
}

TEST(LossOtherwise, NamesWhatIsWrongWithACrossEntropy) {
  expect_named(of_classes("0"), "d.y", cross_entropy_gradients);
  expect_named(of_classes("0.125"), "d.y", smoothed_gradients);
  expect_named(of_classes("0"), "loss", cross_entropies);
}

TEST(LossOtherwise, NamesWhatIsWrongWithAMeanOfSquares) {
  expect_named(of_weighed_rows(), "d.y", square_gradients);
  expect_named(of_weighed_rows(), "loss", squares);
}

}  // namespace
}  // namespace tally::loss_otherwise_test
