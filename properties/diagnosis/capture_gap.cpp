#include "properties/diagnosis/capture_gap.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "oracle/case/micro_steps.hpp"
#include "oracle/window/certificate.hpp"
#include "oracle/window/gap.hpp"

namespace tally {
namespace {

bool takes_batch_statistics(const Layer& layer) { return normalises_parts(layer); }

bool has_batch_statistics(const Case& c) {
  return std::any_of(c.model.layers.begin(), c.model.layers.end(), takes_batch_statistics);
}

bool is_opaque(const Case& c) {
  return std::any_of(c.model.layers.begin(), c.model.layers.end(), [](const Layer& l) { return l.kind == "opaque"; });
}

/// The evaluation holds every parameter some dozens of times, in tens of digits, and goes through all of them for every
/// row: at these sizes hundreds of megabytes and some seconds.
bool is_too_large(const Case& c) {
  constexpr double most_parameters = 1 << 18, most_products = 1 << 22;
  double parameters = 0, rows = 0;
  for (const std::string& p : parameters_of(c.model)) parameters += static_cast<double>(c.tensors.at(p).elements());
  for (const std::int64_t size : c.windows.front()) rows += static_cast<double>(size);
  return parameters > most_parameters || parameters * rows > most_products;
}

std::string causes_of(const Case& c) {
  const bool several = c.windows.front().size() > 1;
  std::vector<std::string> causes;
  if (c.normalisation == Normalisation::sum)
    causes.push_back("normalisation sum adds the items' gradients where the full batch takes their mean");
  else if (c.normalisation != Normalisation::window_items && several)
    causes.push_back("normalisation " + std::string(name_of(c.normalisation)) +
                     " gives every micro-batch the same weight, however many items it has");
  if (has_batch_statistics(c) && several) causes.push_back("batch_norm takes its statistics from each micro-batch");
  std::string text;
  for (const std::string& cause : causes) text += (text.empty() ? "" : ", and ") + cause;
  return text;
}

std::string size_of_gap(double gap) {
  if (std::isinf(gap)) return "is not zero where the full batch's is";
  char text[64];
  std::snprintf(text, sizeof text, "differs from the full batch's by %.3g %% of its norm", gap * 100);
  return text;
}

/// The first window alone: no later one enters its gradient.
Case first_window_of(Case c) {
  c.windows.resize(1);
  return c;
}

}  // namespace

bool may_have_gap(const Case& c) { return !c.windows.empty() && !causes_of(c).empty(); }

CaptureGap gap_of_capture(const Case& c) {
  if (!may_have_gap(c)) return {0, ""};
  const std::string unknown = "not known, although " + causes_of(c);
  if (is_opaque(c)) return {std::nullopt, unknown + ": forward and backward are the capture's own"};
  if (is_too_large(c)) return {std::nullopt, unknown + ": the model is too large to evaluate it exactly"};
  try {
    const double gap = oracle::first_gradient_gap(first_window_of(c));
    if (gap == 0) return {0, ""};
    return {gap, "the first window's gradient " + size_of_gap(gap) + ", before any rounding: " + causes_of(c)};
  } catch (const oracle::NotCertified& problem) {
    return {std::nullopt, unknown + ": " + problem.what()};
  }
}

}  // namespace tally
