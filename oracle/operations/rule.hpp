// What an operation's results are held to: one rule an operation, written once over the (v, e) algebra of
// oracle/tolerance/bounded.hpp, whose inputs are the recorded bits themselves. A rule's v is its own evaluation of the
// formula in binary64: where every term of e has a factor u of fp32 or of 16 bits, that evaluation is itself one with u
// = 2^-53, so it is off by 2^-29 e at most. Where a rule counts no rounding, v is exact. Defined in rule.cpp.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/operations/call.hpp"
#include "oracle/registered_files.hpp"
#include "oracle/tolerance/bounded.hpp"

namespace tally::oracle::operations {

/// What a backend's kernels claim beside "computes in fp32 and rounds once at the end": numbers by operation, format and
/// claim. The standard profile claims nothing.
struct Profile {
  std::string name = "standard";
  std::map<std::string, double, std::less<>> claims;  // "gelu/float32/erf_absolute"; "*" for any operation or format

  std::optional<double> find(std::string_view operation, Element element, std::string_view claim) const;
  double number(std::string_view operation, Element element, std::string_view claim, double otherwise) const;
  bool says(std::string_view operation, Element element, std::string_view claim) const;
};

/// Elements [first, first + count) of a result, as a rule is asked for them.
struct Part {
  std::int64_t first, count;
  const double* found;  // what the run left
  double* v;            // to fill: the exact values
  double* e;            // to fill: how far a legal result may lie from v; 0 on entry; infinite: undecided
  double* s;            // to fill where it is known: the standard deviation of independent roundings; NaN on entry
};

/// What one result is held to.
struct Demand {
  enum Holds {
    bits,   // `written`: v, rounded once into the result's format; undecided where e is infinite
    bound,  // |found - v| <= e
    raw,    // the bits that `raw_of` gives
  };
  std::string output;  // "out", "out 1", "self"
  View found;
  Holds holds = bound;
  std::int64_t unit = 1;  // parts begin and end at multiples of it
  std::function<void(Part&)> of;
  std::function<void(std::int64_t first, std::int64_t count, std::uint64_t* out)> raw_of = {};
  std::int64_t part = 0;  // elements of a part, where more than usual are worked out together
};

/// The demands of a call; none where there is nothing to hold (a view, a drawn number). Throws NotJudged.
using Rule = std::vector<Demand> (*)(const Call& call, const Profile& profile);

/// The operations of a family, by their names without library and overload. A name with a trailing underscore, which
/// writes to `self`, and `_foreach_` before one need no entry of their own.
struct OperationRule {
  std::string name;
  Rule rule = nullptr;
};

struct RegisterOperations {
  RegisterOperations(std::vector<std::string> names, Rule rule,
                     std::source_location at = std::source_location::current()) {
    for (std::string& name : names) Register<OperationRule>({std::move(name), rule}, at);
  }
};

/// v as a result holds it: rounded once, 16 bits through fp32; whole numbers wrap, and booleans tell whether it is 0.
double written(Element element, double v);
/// Throws NotJudged where a result has other sizes than its operation gives.
void expect_sizes(bool they_are_so);

/// The demands of any call. Throws NotJudged, for an operation without a rule too.
std::vector<Demand> demands_of(const Call& call, const Profile& profile);

// What rules are made of.

/// Where the one result of a call stands: what it wrote to `out` or to `self`, or what it returned.
View output_of(const Call& call);
std::string output_name(const Call& call);

/// Rounds to nearest even in fp32, in a format of 16 bits.
const Arithmetic& arithmetic_of(Element element);
inline const Arithmetic& fp32() { return arithmetic_of(Element::float32); }

/// What an elementwise operation reads: a tensor, or a number, which an operation that computes in fp32 rounds first.
struct Operand {
  std::optional<View> view;
  double number = 0;
  Operand(View of) : view(std::move(of)) {}  // NOLINT(google-explicit-constructor)
  Operand(double of) : number(of) {}         // NOLINT(google-explicit-constructor)
};
/// An argument that is a tensor or a number.
Operand operand_of(const Call& call, std::string_view argument);
/// A number that the kernel rounds to its own 16 bits where the profile says so ("scalar_in_storage").
Operand scalar_of(const Call& call, const Profile& profile, std::string_view argument, double otherwise);

/// Parts of operands, broadcast to the sizes of a result: each read as numbers in the format that the operation computes
/// in, and by how much it may be off where a wider format may be rounded before.
struct Reader {
  std::vector<Operand> operands;
  Element result;
  std::vector<std::vector<double>> v;
  std::vector<std::vector<double>> e;  // empty where all are exact

  Reader(std::vector<Operand> operands, const View& found);
  void read(std::int64_t first, std::int64_t count);
  /// Whether binary64 holds all operands of element i of the part, which int64 beyond 2^53 it may not.
  bool known(std::int64_t i) const;
  /// Whether no operand may be rounded before it is used.
  bool exact() const { return e.empty(); }
};

/// Arithmetic without rounding, for formulas that are written for Arithmetic: values alone.
struct Plain {
  Bounded add(Bounded x, Bounded y) const { return {x.v + y.v}; }
  Bounded sub(Bounded x, Bounded y) const { return {x.v - y.v}; }
  Bounded mul(Bounded x, Bounded y) const { return {x.v * y.v}; }
  Bounded div(Bounded x, Bounded y) const { return {x.v / y.v}; }
  Bounded sqrt(Bounded x) const { return {std::sqrt(x.v)}; }
  template <class F>
  Bounded monotone(F&& f, Bounded x, FunctionError) const {
    return {f(x.v)};
  }
  double u() const { return 0; }
  double relative_error_of(FunctionError) const { return 0; }
};

/// What is computed in one of two ways, whose values are one.
inline Bounded either(const Arithmetic&, Bounded x, Bounded y) { return wider(x, y); }
inline Bounded either(const Plain&, Bounded x, Bounded) { return x; }

/// Whether a found number is legal for every rule that rounds v at least once, or gives a number of the format: within
/// half an ulp of v, or in 16 bits v's own rounding. Cheaper to ask than the bound, and true of nearly all.
inline bool surely_legal(double found, double v, Element element) {
  constexpr double half_an_ulp = 0x1p-24 * (1 - 0x1p-20);  // of numbers just above a power of two, and less of others
  if (element == Element::float32) return std::fabs(found - v) < half_an_ulp * std::fabs(v) || found == v;
  return std::isfinite(v) && found == rounded(format_of(element), static_cast<float>(v));
}
/// Elements whose bound is worked out whatever is found there: one in 64, and all of a small tensor.
inline bool is_measured(std::int64_t index, std::int64_t count) {
  return count < 4096 || (index * 0x9e3779b9 >> 7 & 63) == 0;
}

template <std::size_t... I, class F>
auto with_each(std::index_sequence<I...>, F&& f) {
  return f(I...);
}

/// f(arithmetic, operands…) -> Bounded, in fp32, stored once in the result's format; where the profile says
/// "rounds_between" every operation rounds to it.
template <std::size_t n, class F>
Demand elementwise(const Call& call, const Profile& profile, const std::string& output, const View& found,
                   std::vector<Operand> operands, F f) {
  const Arithmetic& storage = arithmetic_of(found.element);
  const bool between = profile.says(call.name, found.element, "rounds_between");
  return {
      output,
      found,
      Demand::bound,
      1,
      [=, reader = Reader(std::move(operands), found), element = found.element,
       all = found.count()](Part& part) mutable {
        reader.read(part.first, part.count);
        const Arithmetic& compute = between ? storage : fp32();
        const bool quickly = reader.exact() && !between;
        for (std::int64_t i = 0; i < part.count; ++i) {
          const auto at = [&](std::size_t k) { return Bounded{reader.v[k][i], reader.exact() ? 0 : reader.e[k][i]}; };
          if (quickly && !is_measured(part.first + i, all)) {
            const double v =
                with_each(std::make_index_sequence<n>{}, [&](auto... k) { return f(Plain{}, at(k)...); }).v;
            if (surely_legal(part.found[i], v, element)) {
              part.v[i] = v;
              part.e[i] = -std::fabs(part.found[i] - v);
              continue;
            }
          }
          const Bounded x =
              storage.store(with_each(std::make_index_sequence<n>{}, [&](auto... k) { return f(compute, at(k)...); }));
          part.v[i] = x.v;
          part.e[i] = x.e;
        }
      },
      {}};
}

/// One operation f(operands…) -> double that is exact, or whose binary64 value rounds as the exact one does: bits.
template <std::size_t n, class F>
Demand rounded_once(const Call&, const std::string& output, const View& found, std::vector<Operand> operands, F f) {
  Reader reader(std::move(operands), found);
  return {output,
          found,
          Demand::bits,
          1,
          [=](Part& part) mutable {
            reader.read(part.first, part.count);
            for (std::int64_t i = 0; i < part.count; ++i) {
              part.v[i] = with_each(std::make_index_sequence<n>{}, [&](auto... k) { return f(reader.v[k][i]...); });
              if (!reader.known(i)) part.e[i] = infinite;
            }
          },
          {}};
}

/// The same bits as those of another tensor of as many elements.
Demand moved(const std::string& output, const View& found, const View& from);
/// The same number everywhere, rounded once.
Demand constant(const std::string& output, const View& found, double value);

}  // namespace tally::oracle::operations
