// Published tolerance rules: how other projects decide that two training runs agree. They are the subject of a study
// (`tally bench rules`) and judge nothing in Tally; their numbers stand in these files alone, as published. One file a
// rule; it registers itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "oracle/case/tensor.hpp"

namespace tally {

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

struct RegisterRule {
  explicit RegisterRule(PublishedRule rule, std::source_location at = std::source_location::current());
};

/// All rules, sorted by name.
std::vector<const PublishedRule*> published_rules();
const PublishedRule* find_rule(std::string_view name);

/// Whether every tensor has the same number of elements in both runs and fulfils `accepts`.
template <class Accepts>
bool every_tensor(const ComparedRuns& comparison, const Accepts& accepts) {
  return std::all_of(comparison.tensors.begin(), comparison.tensors.end(), [&](const ComparedTensor& tensor) {
    return tensor.got.size() == tensor.reference.size() && accepts(tensor);
  });
}

}  // namespace tally
