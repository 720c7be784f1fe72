// What laws do with outcomes: checks are added, relations required, and at the end all of it is settled into a status.
#pragma once

#include <string>
#include <vector>

#include "properties/laws/law.hpp"

namespace tally {

/// Adds a check and takes the outcome down to it: fail beats all, vacuous only if nothing passed.
void add(Outcome& outcome, TensorCheck check);
void add(Outcome& outcome, const Outcome& other);

/// Fails the outcome with this message unless `holds`; a check of lens "relation" records it. `tap`: what the relation
/// is about, a tap where it is about one tensor.
void require(Outcome& outcome, bool holds, const std::string& tap, const std::string& stage,
             const std::string& message);

/// Every tap of these stages whose bits both runs promise (promised_bits.hpp) must be equal in both (±0 as one value).
void require_equal_bits(Outcome& outcome, const Trace& expected, const Trace& got,
                        const std::vector<std::string>& stages, const std::string& message);

/// Whether any tap of these stages differs in bits between two traces, or exists in one only.
bool bits_differ(const Trace& a, const Trace& b, const std::vector<std::string>& stages);

/// Settles status and message from the checks; call once at the end of a law. Vacuous where every gradient is exactly
/// zero.
Outcome settled(Outcome outcome);

/// The outcome of a case that was not drawn for the law: not run, with what the law needs.
Outcome not_for(const std::string& what_it_needs);
/// A settled outcome that passes counts for nothing: it is vacuous, for this reason.
Outcome vacuous(Outcome outcome, const std::string& reason);

}  // namespace tally
