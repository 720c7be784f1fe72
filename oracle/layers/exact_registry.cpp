#include <map>
#include <stdexcept>
#include <string>

#include "oracle/layers/register_exact.hpp"
#include "oracle/registered_files.hpp"

namespace tally::oracle {
namespace {

template <class Mathematics>
using Registry = std::map<std::string, Mathematics, std::less<>>;

// Function-local, so that registrations of other files may run before this one's.
template <class Mathematics>
Registry<Mathematics>& registry() {
  static Registry<Mathematics> all;
  return all;
}

template <class Mathematics>
const Mathematics& find(std::string_view kind, const char* what) {
  const auto& all = registry<Mathematics>();
  const auto found = all.find(kind);
  if (found == all.end())
    throw std::logic_error("no exact mathematics for the " + std::string(what) + " \"" + std::string(kind) + "\"");
  return found->second;
}

}  // namespace

RegisterExactLayer::RegisterExactLayer(std::string_view kind, ExactLayer<Real> real, ExactLayer<long double> wide,
                                       std::source_location at) {
  registry<ExactLayer<Real>>().emplace(kind, real);
  registry<ExactLayer<long double>>().emplace(kind, wide);
  note_registered(at);
}

RegisterExactLoss::RegisterExactLoss(std::string_view kind, ExactLoss<Real> real, ExactLoss<long double> wide,
                                     std::source_location at) {
  registry<ExactLoss<Real>>().emplace(kind, real);
  registry<ExactLoss<long double>>().emplace(kind, wide);
  note_registered(at);
}

template <class T>
const ExactLayer<T>& exact_layer(std::string_view kind) {
  return find<ExactLayer<T>>(kind, "layer");
}

template <class T>
const ExactLoss<T>& exact_loss(std::string_view kind) {
  return find<ExactLoss<T>>(kind, "loss");
}

template const ExactLayer<Real>& exact_layer<Real>(std::string_view);
template const ExactLayer<long double>& exact_layer<long double>(std::string_view);
template const ExactLoss<Real>& exact_loss<Real>(std::string_view);
template const ExactLoss<long double>& exact_loss<long double>(std::string_view);

}  // namespace tally::oracle
