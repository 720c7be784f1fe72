#include "oracle/tolerance/predicted_layer.hpp"

#include <map>
#include <stdexcept>

#include "oracle/registered_files.hpp"

namespace tally::oracle {
namespace {

std::map<std::string, PredictedRule, std::less<>>& predicted_rules() {
  static std::map<std::string, PredictedRule, std::less<>> all;
  return all;
}

const PredictedRule& predicted_rule_of(const BoundPass& pass) {
  static const PredictedRule none{};
  const auto found = predicted_rules().find(pass.layer.kind);
  return found == predicted_rules().end() ? none : found->second;
}

}  // namespace

RegisterPredictedRule::RegisterPredictedRule(std::string_view kind, PredictedRule rule, std::source_location at) {
  note_registered(at);
  if (!predicted_rules().emplace(kind, rule).second)
    throw std::logic_error("two predictions for '" + std::string(kind) + "'");
}

Prediction predicted_y(const BoundPass& pass, const Matrix<float>& x, const Statistics& statistics) {
  const auto rule = predicted_rule_of(pass).y;
  return rule == nullptr ? std::nullopt : rule(pass, x, statistics);
}

Prediction predicted_rstd(const BoundPass& pass, const Statistics& statistics) {
  const auto rule = predicted_rule_of(pass).rstd;
  return rule == nullptr ? std::nullopt : rule(pass, statistics);
}

Prediction predicted_dx(const BoundPass& pass, const Statistics& statistics, const Matrix<float>& dy) {
  const auto rule = predicted_rule_of(pass).dx;
  return rule == nullptr ? std::nullopt : rule(pass, statistics, dy);
}

Matrix<float> held(const Expected& tensor) { return tensor.v.cast<float>(); }

}  // namespace tally::oracle
