// A kind of layers of language models as the study runs it: drawn cases, the kernels that compute them, what is shown.
// A kind is a file of its own, which registers it.
#pragma once

#include <cstdint>
#include <map>
#include <source_location>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

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
  std::string name;
  /// A function of its arguments alone, the same whatever the way. Number 0 is small.
  Case (*drawn)(Dtype storage, std::uint64_t seed, std::uint64_t number);
  std::vector<ShownTensor> tensors;
  std::vector<Way> ways;
  /// A word for each row of a shown tensor, by which its elements are counted apart; nullptr: not apart.
  std::vector<std::string> (*parts)(const Case& c) = nullptr;
  std::vector<std::string> part_words = {"all"};  // all there are, in order
};

/// In the order of their places.
const std::vector<LayerFamily>& layer_families();

/// `place` is where a kind's rows stand in the tables. Throws std::logic_error for one that is taken.
struct RegisterLayerFamily {
  RegisterLayerFamily(int place, LayerFamily family, std::source_location at = std::source_location::current());
};

}  // namespace tally
