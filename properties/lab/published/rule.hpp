// Published tolerance rules: how other projects decide that two training runs agree, and what they are given of two
// runs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "oracle/registered_files.hpp"

namespace tally {

// Published tolerance rules: how other projects decide that two training runs agree. They are the subject of a study
// (`tally bench rules`) and judge nothing in Tally; their numbers stand in these files alone, as published. One file a
// rule; it registers itself.

/// The matrix product C = alpha A B that left a tensor, as a BLAS tester sees it.
struct Product {
  std::int64_t k = 0;             // columns of A
  double norm_a = 0, norm_b = 0;  // Frobenius norms, |alpha| multiplied into norm_a
};

/// One tensor of two runs.
struct ComparedTensor {
  std::string name;
  std::vector<double> got, reference;  // empty where that run has no such tensor
  std::vector<double> precise;         // of the reference run in fp32
  std::optional<Product> product;      // of the reference, where it came from one product
};

struct ComparedRuns {
  Dtype storage = Dtype::fp32;  // the format whose default tolerances a rule with defaults by dtype takes
  std::vector<ComparedTensor> tensors;
};

struct PublishedRule {
  std::string name;       // "PyTorch assert_close"
  std::string source;     // where it is published
  std::string statement;  // one sentence
  bool (*accepts)(const ComparedRuns& comparison) = nullptr;
  /// Formats the rule is made for; nullptr: all.
  bool (*applies)(Dtype storage) = nullptr;
};

/// All that are a `Register<PublishedRule>`, sorted by name.
std::vector<const PublishedRule*> published_rules();
const PublishedRule* find_rule(std::string_view name);

/// Whether every tensor has the same number of elements in both runs and fulfils `accepts`.
template <class Accepts>
bool every_tensor(const ComparedRuns& comparison, const Accepts& accepts) {
  return std::all_of(comparison.tensors.begin(), comparison.tensors.end(), [&](const ComparedTensor& tensor) {
    return tensor.got.size() == tensor.reference.size() && accepts(tensor);
  });
}

// |got - expected| <= atol + rtol |expected|, element by element: what torch.isclose and numpy.isclose share.

struct RelativeAndAbsolute {
  double rtol = 0, atol = 0;
};

/// Equal infinities are close, an infinity and anything else are not; NaN is close to NaN only where `equal_nan`.
inline bool elementwise_close(const std::vector<double>& got, const std::vector<double>& expected,
                              const RelativeAndAbsolute& allowed, bool equal_nan) {
  if (got.size() != expected.size()) return false;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i] || (equal_nan && std::isnan(got[i]) && std::isnan(expected[i]))) continue;
    if (!std::isfinite(got[i]) || !std::isfinite(expected[i])) return false;
    if (!(std::fabs(got[i] - expected[i]) <= allowed.atol + allowed.rtol * std::fabs(expected[i]))) return false;
  }
  return true;
}

// What a training script can compare of two runs, and what the published rules are given: the unscaled gradients and
// the parameters after every window.

/// The same full batch in fp32, on the same bits: activations, weights and gradients are stored in fp32.
Case in_fp32(const Case& c);

/// Two runs of the same training side by side, window by window, as far as both got: a window in which either run was
/// stopped is left out. A skipped window leaves no gradient and the parameters of the one before. `reference` and
/// `precise` are runs of the full batch, one micro-batch a window.
ComparedRuns comparison_of(const Case& c, const Trace& got, const Trace& reference, const Trace& precise);

/// What is left of it for one who looks at the first window's gradients alone.
ComparedRuns first_gradients(const ComparedRuns& comparison);

}  // namespace tally
