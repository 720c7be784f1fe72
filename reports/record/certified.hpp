// What of a run was evaluated again in certified arithmetic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tally {

struct CertifiedRecord {
  std::uint64_t cases = 0, stages = 0;  // whole small cases; single stages of layers and losses
  std::uint64_t elements = 0;           // compared, of both
  std::uint64_t undecided = 0;          // cases and stages that no precision decided: not compared
  std::vector<std::string>
      disagreements;  // beyond the certificate and what the bound allows long double: tap and sizes
};

void add(CertifiedRecord& whole, const CertifiedRecord& part);

/// "152 stages and 31 whole cases evaluated again in certified arithmetic: 5,120 elements agree"; empty for none.
std::string certified_sentence(const CertifiedRecord& record);

}  // namespace tally
