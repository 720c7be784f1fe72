#include "oracle/case/choice.hpp"
#include "oracle/case/rules.hpp"
#include "oracle/case/sections.hpp"

namespace tally {

void check_choices(const Case& c, Findings& findings) {
  for (std::size_t i = 0; i < c.model.layers.size(); ++i)
    check_choice(c.model.layers[i], "layer", element_path("$.model.layers", i), findings);
  if (findings.sound("$.model.loss")) check_choice(c.model.loss, "loss", "$.model.loss", findings);
  for (const RecipeSection& section : recipe_sections)
    check_choice(c.recipe.*section.choice, section.name, member_path("$.recipe", section.name), findings);
}

void check_precision(const Case& c, Findings& findings) {
  for (const PrecisionKey& key : precision_keys) {
    const Dtype dtype = c.precision.*key.dtype;
    if (!(format_row(dtype).uses.*key.use))
      findings.add_broken(member_path("$.precision", key.name), "\"" + std::string(name_of(dtype)) + "\"",
                          "one of " + quoted_list(words_of(key)));
  }
  const Precision& precision = c.precision;
  const bool narrow_sums = precision.compute != Dtype::fp32 && format_row(precision.compute).uses.compute;
  if (narrow_sums && precision.storage != precision.compute) {
    const std::string compute(name_of(precision.compute)), storage(name_of(precision.storage));
    findings.add("$.precision.compute", "\"" + compute + "\" with storage \"" + storage + "\"",
                 "\"fp32\", or storage \"" + compute + "\"");
  }
  if (precision.tf32 && (precision.storage != Dtype::fp32 || precision.compute != Dtype::fp32))
    findings.add("$.precision.tf32", "true without storage and compute \"fp32\"", "false");
}

}  // namespace tally
