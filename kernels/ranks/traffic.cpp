#include "kernels/ranks/traffic.hpp"

namespace tally {
namespace {

thread_local TrafficScope* counting = nullptr;

/// "w0/m1/reduce, bucket 2": "w0/reduce".
std::string stage_of(std::string_view about) {
  about = about.substr(0, about.find(','));
  const std::size_t window = about.find('/'), stage = about.rfind('/');
  if (window == std::string_view::npos) return std::string(about);
  return std::string(about.substr(0, window)) + std::string(about.substr(stage));
}

}  // namespace

TrafficScope::TrafficScope() : outer_(counting) { counting = this; }
TrafficScope::~TrafficScope() { counting = outer_; }

void note_sent(int rank, std::string_view about, std::size_t bytes) {
  if (counting != nullptr) counting->ranks_[rank][stage_of(about)] += bytes;
}

}  // namespace tally
