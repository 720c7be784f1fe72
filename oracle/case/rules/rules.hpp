// The rules a case must keep beyond its grammar, one file each. A rule runs where what it reads is sound.
// Defined in rules.cpp, kinds.cpp, passes.cpp, tokens.cpp, model.cpp, pipeline.cpp, ranks.cpp, execution.cpp.
#pragma once

#include "oracle/case/file/findings.hpp"

namespace tally {

/// All rules, in order, on a case that may be broken where the findings say so; with_tensors: those too that look at
/// nothing but the tensors.
void apply_rules(const Case& c, Findings& findings, bool with_tensors = true);

// Grammar once more, for cases built in memory; and what other rules rest on.
void check_choices(const Case& c, Findings& findings);
void check_names(const Case& c, Findings& findings);
void check_graph(const Case& c, Findings& findings);  // model.layers
void check_windows(const Case& c, Findings& findings);
void check_token_layers(const Case& c, Findings& findings);  // model.layers
void check_tied(const Case& c, Findings& findings);          // model
void check_trainable(const Case& c, Findings& findings);     // model
void check_sequences(const Case& c, Findings& findings);     // model, windows
void check_precision(const Case& c, Findings& findings);

// Combinations.
void check_sizes(const Case& c, Findings& findings);            // model, windows
void check_statistics(const Case& c, Findings& findings);       // model, windows
void check_class_weights(const Case& c, Findings& findings);    // model
void check_recipe(const Case& c, Findings& findings);           // what sections are sound
void check_passes(const Case& c, Findings& findings);           // windows, what sections are sound
void check_excluded(const Case& c, Findings& findings);         // model, recipe.weight_decay
void check_tensor_shapes(const Case& c, Findings& findings);    // model, windows, precision, recipe.optimizer
void check_optimizer_state(const Case& c, Findings& findings);  // model, recipe.optimizer
void check_tensor_values(const Case& c, Findings& findings);    // model
void check_state_values(const Case& c, Findings& findings);     // model, recipe.optimizer
void check_step(const Case& c, Findings& findings);             // windows
void check_gemm_choices(const Case& c, Findings& findings);     // precision
void check_grid_choice(const Case& c, Findings& findings);
void check_recomputed(const Case& c, Findings& findings);  // model.layers
void check_ranks(const Case& c, Findings& findings);       // model.layers, windows
void check_pipeline(const Case& c, Findings& findings);    // of ranks: model.layers, windows, execution.ranks
void check_targets(const Case& c, Findings& findings);     // model
void check_tokens(const Case& c, Findings& findings);      // model
void check_positions(const Case& c, Findings& findings);   // model

/// `$.tensors['fc1.weight']`.
std::string tensor_path(const std::string& name);

}  // namespace tally
