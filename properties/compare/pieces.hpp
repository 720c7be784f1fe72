// A capture of an opaque model, cut into pieces that are judged one after another. Behind the gradients that a capture
// holds every stage goes element by element, but for the norm and the search for overflow, which read all of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally {

/// Elements of a parameter, counted row by row.
struct Stretch {
  std::string parameter;
  std::size_t first = 0, count = 0;
  friend bool operator==(const Stretch&, const Stretch&) = default;
};
/// At most one stretch of a parameter.
using Piece = std::vector<Stretch>;

/// Every element of an opaque model's parameters once, in the order of the model, `most` or fewer a piece.
std::vector<Piece> pieces_of(const Case& c, std::size_t most);

struct PieceOfCapture {
  Case c;
  Trace trace;
};

/// The capture of these elements alone, its parameters as vectors. What belongs to no parameter is `others` of the
/// first piece, and is left out of all further ones.
PieceOfCapture cut(const Case& c, const Trace& trace, const Piece& piece, bool others);

/// The parameter that a tap's tensor is, or belongs to: "model.fc.weight" of "in.exp_avg.model.fc.weight". Empty: none.
class ParameterOf {
 public:
  explicit ParameterOf(const Case& c);
  std::string operator()(const std::string& tensor) const;

 private:
  std::vector<std::string> parameters_;  // sorted
};

/// The checks of whole tensors from those of their pieces, given in the order of `pieces_of`.
class JoinedChecks {
 public:
  explicit JoinedChecks(const Case& c) : c_(c), parameter_of_(c) {}
  void add(const Piece& piece, std::vector<TensorCheck> checks);
  std::vector<TensorCheck> all() && { return std::move(checks_); }

 private:
  const Case& c_;
  const ParameterOf parameter_of_;
  std::vector<TensorCheck> checks_;
};

}  // namespace tally
