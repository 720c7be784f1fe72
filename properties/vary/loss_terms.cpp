#include "properties/vary/loss_terms.hpp"

#include <algorithm>
#include <cmath>

namespace tally {
namespace {

bool is_sum(const VaryPart& part, double sharpness) { return part.rest <= sharpness && part.meant_rest <= sharpness; }

bool is_wrong(const VaryPart& part, double sharpness) {
  for (std::size_t k = 0; k < part.found.size(); ++k)
    if (!(std::fabs(part.found[k] - part.meant[k]) <= sharpness * std::fabs(part.meant[k]))) return true;
  return false;
}

std::string name_of(const VaryPart& part) {
  if (part.place.file.empty()) return part.name;
  return part.name + " at " + part.place.file + ":" + std::to_string(part.place.line);
}

}  // namespace

std::optional<std::size_t> wrong_part(const VaryWeights& weights, double sharpness) {
  const auto wrong = [&](const VaryPart& part) { return is_wrong(part, sharpness); };
  if (!std::ranges::all_of(weights.parts, [&](const VaryPart& part) { return is_sum(part, sharpness); }))
    return std::nullopt;
  const auto found = std::ranges::find_if(weights.parts, wrong);
  if (found == weights.parts.end()) return std::nullopt;
  return static_cast<std::size_t>(found - weights.parts.begin());
}

VaryWeights weights_of(const VaryWeights& weights, std::size_t index) {
  const VaryPart& part = weights.parts[index];
  VaryWeights own = weights;
  own.found = part.found, own.meant = part.meant, own.rest = part.rest, own.meant_rest = part.meant_rest;
  if (!part.place.file.empty()) own.place = part.place;
  return own;
}

std::optional<VaryWeights> as_told(const VaryWeights& weights, std::optional<std::size_t> part, double sharpness) {
  const bool has = !part || *part < weights.parts.size();
  if (weights.found.empty() || !has) return std::nullopt;
  const VaryWeights told = part ? weights_of(weights, *part) : weights;
  return told.rest <= sharpness && told.meant_rest <= sharpness ? std::optional(told) : std::nullopt;
}

std::string whose_text(const VaryWeights& weights, std::size_t part, double sharpness) {
  std::string others;
  std::size_t right = 0;
  for (const VaryPart& other : weights.parts) {
    if (!is_wrong(other, sharpness)) {
      ++right;
    } else if (&other != &weights.parts[part]) {
      others += (others.empty() ? "" : ", ") + name_of(other);
    }
  }
  std::string text =
      name_of(weights.parts[part]) + ", one of the loss's " + std::to_string(weights.parts.size()) + " terms, is wrong";
  if (!others.empty()) text += ", and so is " + others;
  if (right == 0) return text;
  return text + (right == 1 ? " and the other is right" : " and the others are right");
}

}  // namespace tally
