// A capture of an opaque model, cut into pieces that are judged one after another.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/trace/recorder_notes.hpp"
#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "oracle/window/bound_stages.hpp"
#include "properties/judge/groups.hpp"
#include "reports/record/record.hpp"

namespace tally {

// A capture of an opaque model, cut into pieces that are judged one after another. After the captured gradients every
// stage works element by element, except the norm and the overflow check, which read all of them.

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

// A large capture of an opaque model under both hard lenses, in the memory of one piece.

/// Elements of the parameters that are judged together.
inline constexpr std::size_t elements_a_piece = std::size_t{1} << 20;

/// Whether the capture is cut: an opaque model of more elements than four pieces have, that one rank trained by an
/// optimizer that goes element by element.
bool is_judged_in_pieces(const Case& c);

/// As hard_lenses, with groups inferred or declared as the trace says, and the bounds of the worst split (bound_terms.hpp).
/// Checks stand in the order of the trace; a failing tensor has no profile. What the trace says of the whole model
/// stands; without that it is summed up first, where the recipe needs it.
GroupedChecks piecewise_lenses(const Case& c, const Trace& trace, const GoneThrough& told = {},
                               std::size_t most = elements_a_piece);

// What stages over all parameters read, where a trace holds some elements of them only: a capture by samples, or a
// piece of a large one (pieces.hpp).

enum class OverflowFound { none, certain, open };

/// A window's buffers before they are unscaled, those of every element.
struct BuffersOfAll {
  OverflowFound overflow = OverflowFound::none;
  oracle::NormTerms terms;
};

struct WholeWindow {
  BuffersOfAll seen;      // where a walk goes on from the taps
  BuffersOfAll expected;  // from the case alone
  // The bits of all taps of these names; nothing where one is missing.
  std::optional<oracle::NormTerms> read_by_norm;  // norm/in.d
  std::optional<oracle::NormTerms> unscaled;      // unscale/d
  bool non_finite = false;                        // among the bits of overflow_check/in.buffer
};

/// By window. Empty: the window's sums are not known.
struct WholeModel {
  std::map<int, WholeWindow> windows;
};

/// The whole model of a capture by samples: what its recorder summed up stands in both walks.
WholeModel whole_model_of(const std::vector<SquaresOfWindow>& sums);

/// What the trace, or that of all ranks, says of the window; nullptr where it holds every element.
const WholeWindow* whole_window(const Trace& trace, int window);

}  // namespace tally
