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

void RegisterExactLayer::enter(std::string_view kind, OverAllScalars<ExactLayer> layer, std::source_location at) {
  registry<ExactLayer<Real>>().emplace(kind, layer.real);
  registry<ExactLayer<long double>>().emplace(kind, layer.wide);
  registry<ExactLayer<Ball>>().emplace(kind, layer.ball);
  note_registered(at);
}

void RegisterExactLoss::enter(std::string_view kind, OverAllScalars<ExactLoss> loss, std::source_location at) {
  registry<ExactLoss<Real>>().emplace(kind, loss.real);
  registry<ExactLoss<long double>>().emplace(kind, loss.wide);
  registry<ExactLoss<Ball>>().emplace(kind, loss.ball);
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
template const ExactLayer<Ball>& exact_layer<Ball>(std::string_view);
template const ExactLoss<Real>& exact_loss<Real>(std::string_view);
template const ExactLoss<long double>& exact_loss<long double>(std::string_view);
template const ExactLoss<Ball>& exact_loss<Ball>(std::string_view);

}  // namespace tally::oracle
