#include <algorithm>

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
    if (std::find(key.allowed.begin(), key.allowed.end(), dtype) == key.allowed.end())
      findings.add_broken(member_path("$.precision", key.name), "\"" + std::string(name_of(dtype)) + "\"",
                          "one of " + quoted_list(words_of(key)));
  }
  const Precision& precision = c.precision;
  if (precision.compute == Dtype::fp16 && precision.storage != Dtype::fp16)
    findings.add("$.precision.compute", "\"fp16\" with storage \"" + std::string(name_of(precision.storage)) + "\"",
                 "\"fp32\", or storage \"fp16\"");
  if (precision.tf32 && (precision.storage != Dtype::fp32 || precision.compute != Dtype::fp32))
    findings.add("$.precision.tf32", "true without storage and compute \"fp32\"", "false");
}

}  // namespace tally
