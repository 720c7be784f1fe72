// Parameters and gradients as points of one space, for the sweeps that measure distances in it.
#pragma once

#include <vector>

#include "oracle/window/trajectory.hpp"

namespace tally {

using ExactState = oracle::State<long double>;
/// All parameters (or their gradients) one after another, by name.
using Point = std::vector<long double>;

Point point_of(const oracle::Tensors<long double>& tensors);
Point parameters_of(const ExactState& state);

long double norm(const Point& p);
Point difference(const Point& a, const Point& b);
/// sum += weight p; an empty sum counts as zeros.
void add_to(Point& sum, long double weight, const Point& p);

/// The exact parameters after all windows of an accumulated run.
Point trained(const Case& c);
/// The parameters the case starts with.
Point untrained(const Case& c);

/// The exact gradient of every window at the parameters the case starts with.
std::vector<Point> gradients_at_start(const Case& c);

}  // namespace tally
