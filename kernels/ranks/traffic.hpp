// Bytes that ranks of one process send each other, by window and by what they are about.
// Defined in traffic.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace tally {

/// Bytes of one rank, by the stage of a window that they are about: "w0/reduce", every micro-batch's together.
using RankTraffic = std::map<std::string, std::uint64_t>;

/// While it lives, what ranks on fibres of this thread send is counted. Scopes nest; the inner one alone counts.
class TrafficScope {
 public:
  TrafficScope();
  ~TrafficScope();
  TrafficScope(const TrafficScope&) = delete;
  TrafficScope& operator=(const TrafficScope&) = delete;
  /// By rank; a rank that sent nothing is absent.
  const std::map<int, RankTraffic>& ranks() const { return ranks_; }

 private:
  friend void note_sent(int rank, std::string_view about, std::size_t bytes);
  std::map<int, RankTraffic> ranks_;
  TrafficScope* outer_;
};

/// For links: a message that was handed over.
void note_sent(int rank, std::string_view about, std::size_t bytes);

}  // namespace tally
