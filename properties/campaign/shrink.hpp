// From a failing plan to the smallest and roundest case that fails in the same way.
#pragma once

#include <optional>

#include "properties/campaign/campaign.hpp"

namespace tally {

/// How a case fails. Shrinking keeps it, so that it does not slip from one bug to another.
struct FailureSignature {
  Status status = Status::pass;
  FailureClass failure = FailureClass::none;
  std::string lens, stage;
  std::string suspect;  // the likeliest one; empty where there is none
  friend bool operator==(const FailureSignature&, const FailureSignature&) = default;
};
FailureSignature signature_of(const Outcome& outcome);

struct ShrunkCase {
  Case c;
  Outcome outcome;
  std::uint64_t attempts = 0;
};

/// The plan first (layers, micro-batches, recipe, sizes), then the tensors' values (towards 0, 1, small integers,
/// powers of two, few bits). A case counts only if it fails with the same signature; and where the failure is no local
/// one (a law compared two runs), only if the shipped stages pass it: small values must not leave the law's domain,
/// which only its plans are sure to be in. Deterministic.
ShrunkCase shrunk(const Law& law, const Plan& plan, const Outcome& failing, const Subject& subject);

}  // namespace tally
