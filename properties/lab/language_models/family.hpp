// A kind of layers of language models as the study runs it: drawn cases, the kernels that compute them, elements
// counted one by one; and the study's tables. Defined in family.cpp, tables.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/device/executor/schedule.hpp"
#include "oracle/case/case.hpp"
#include "oracle/tolerance/expected.hpp"
#include "properties/generators/plan.hpp"
#include "properties/lab/evidence/strata.hpp"
#include "properties/lab/study.hpp"

namespace tally {

// The elements of one tensor counted against their bounds, one by one.

/// What `count_elements` counts under `labels`, and the largest excess under excess_labels(labels). A stratum has
///   checks   elements that were looked at; those whose bound is 0 and that are exact are not: their bits are known
///   vacuous  of them those of which the bound says nothing: it is infinite, or no smaller than the value
///   judged   those with a finite bound
///   ratios   r of these, |got - v| / e; 0 where the element is exact
///   alarms   those outside
/// What is not finite is left to the check of its tensor.
struct CountedTensor {
  const oracle::Expected& expected;
  const Tensor& got;
  const std::vector<std::string>& parts;  // a word for each row, its elements' last label; empty: one part, "all"
  std::uint64_t number;                   // of the case
  const std::string& tap;
};
void count_elements(Strata& strata, const Labels& labels, const CountedTensor& tensor);

Labels excess_labels(Labels labels);

// A kind of layers of language models as the study runs it: drawn cases, the kernels that compute them, what is shown.
// A kind is a file of its own, which registers it.

/// What a stage leaves, and the operation whose kernel makes it. Shown only of runs that have this operation.
struct ShownTensor {
  std::string stage, tensor;  // as tapped: "backward", "d.att.q"
  std::string shown;          // for people: "attention dq"
  std::string operation;      // "attention.backward"
};

/// A claim that is less than what the kernel does, or other: its runs are judged under it, too.
struct OtherClaim {
  std::string claimed;                            // for people: "nothing cast"
  std::map<std::string, std::string> algorithms;  // operation -> algorithm; the rest of its claim stays
  bool of_stores = true;                          // it is about what is stored in 16 bits: nothing to see in fp32
};

struct Way {
  std::map<std::string, std::string> kernels = {};  // operation -> variant
  std::vector<OtherClaim> others = {};
  std::string fault = {};  // planted, no clean run: judged under the claims of the kernels it spoils
};

struct LayerFamily {
  int place;  // of its rows in the tables; each has its own
  std::string name;
  /// A function of its arguments alone, the same whatever the way. Number 0 is small.
  Case (*drawn)(Dtype storage, std::uint64_t seed, std::uint64_t number);
  std::vector<ShownTensor> tensors;
  std::vector<Way> ways;
  /// A word for each row of a shown tensor, by which its elements are counted apart; nullptr: not apart.
  std::vector<std::string> (*parts)(const Case& c) = nullptr;
  std::vector<std::string> part_words = {"all"};  // all there are, in order
};

inline int key_of_record(const LayerFamily& family) { return family.place; }

/// All that are a `Register<LayerFamily>`, in the order of their places.
const std::vector<LayerFamily>& layer_families();

// What the drawn cases of all families share.

/// Numbers for case `number` of a family, which `family` tells from others.
executor::Schedule numbers_for(std::uint64_t seed, std::uint64_t number, const std::string& family);

template <class T, std::size_t n>
const T& one_of(executor::Schedule& random, const std::array<T, n>& all) {
  return all[random.below(n)];
}

/// A model over tokens without hidden layers: one micro-batch of `rows`, five classes, cross-entropy, a static loss
/// scale of 64, SGD.
Plan plain_plan(Dtype storage, executor::Schedule& random, std::int64_t rows, std::int64_t longest);

/// A layer that reads these.
Layer reading(Layer layer, std::vector<std::string> inputs);

/// The table of the embedding becomes factor times itself, plus `shift`.
void move_table(Case& c, double factor, double shift = 0);

// One case run in one way, its shown tensors counted element by element against their bounds.

/// Labels, each of the first three as count_elements() counts:
///   "clean", tensor, variant, precision, part           under the kernel's own claim
///   "unclaimed", tensor, precision, part                the same runs, of whose kernels nothing is claimed
///   "other", tensor, variant or fault, claimed, precision, part
///   "alarm", family, tap, what replays the case          a check of these that fails, shown or not
/// A stratum is of one case, `alarmed` where an element lies outside.
Strata held_run(const LayerFamily& family, const Way& way, Dtype storage, std::uint64_t number,
                const StudyOptions& options);

// The tables and the sentences of the study, made from what its runs left.

/// Clean runs; other claims; alarms where there are any.
std::vector<StudyTable> language_model_tables(const Strata& strata);

std::string language_model_answer(const Strata& strata);
/// How cases are drawn, why bounds stand where they do, and which claims random data does not tell apart.
std::vector<std::string> language_model_notes(const Strata& strata);

}  // namespace tally
