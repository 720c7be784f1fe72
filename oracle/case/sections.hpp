// The sections of a case that are lists of like things, once for reader, writer, validator and schema.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/case/formats.hpp"

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
  bool FormatUses::*use;  // the formats that it may hold
};
inline constexpr std::array<PrecisionKey, 4> precision_keys{
    {{"storage", &Precision::storage, &FormatUses::storage},
     {"compute", &Precision::compute, &FormatUses::compute},
     {"accumulate", &Precision::accumulate, &FormatUses::accumulate},
     {"master", &Precision::master, &FormatUses::master}}};

/// The words that a key of `precision` may hold.
inline std::vector<std::string> words_of(const PrecisionKey& key) { return names_of(formats_for(key.use)); }

inline constexpr std::array<Normalisation, 5> normalisations{Normalisation::window_items, Normalisation::mean_of_means,
                                                             Normalisation::mean_of_means_configured,
                                                             Normalisation::sum, Normalisation::rank_means};

}  // namespace tally
