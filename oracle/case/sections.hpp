// The sections of a case that are lists of like things, once for reader, writer, validator and schema.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

struct RecipeSection {
  std::string_view name;  // also the section of its contracts
  Choice Recipe::*choice;
};
inline constexpr std::array<RecipeSection, 5> recipe_sections{{{"optimizer", &Recipe::optimizer},
                                                               {"learning_rate", &Recipe::learning_rate},
                                                               {"weight_decay", &Recipe::weight_decay},
                                                               {"clip", &Recipe::clip},
                                                               {"loss_scale", &Recipe::loss_scale}}};

struct PrecisionKey {
  std::string_view name;
  Dtype Precision::*dtype;
  std::array<Dtype, 3> allowed;
};
inline constexpr std::array<PrecisionKey, 4> precision_keys{
    {{"storage", &Precision::storage, {Dtype::fp32, Dtype::fp16, Dtype::bf16}},
     {"compute", &Precision::compute, {Dtype::fp32, Dtype::fp16, Dtype::fp16}},
     {"accumulate", &Precision::accumulate, {Dtype::fp32, Dtype::fp16, Dtype::bf16}},
     {"master", &Precision::master, {Dtype::fp32, Dtype::fp16, Dtype::bf16}}}};

/// The distinct words a key of `precision` may hold.
std::vector<std::string> words_of(const PrecisionKey& key);

inline constexpr std::array<Normalisation, 4> normalisations{Normalisation::window_items, Normalisation::mean_of_means,
                                                             Normalisation::mean_of_means_configured,
                                                             Normalisation::sum};

}  // namespace tally
