// One operation of a tensor library as a recording holds it: its arguments by the names of its schema, what it returned,
// and what it wrote to. Tensors are strided windows into recorded bytes. Defined in call.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "oracle/tolerance/format.hpp"

namespace tally::oracle::operations {

/// Formats of elements, by PyTorch's names without "torch.".
enum class Element : std::uint8_t { float32, float16, bfloat16, float64, int64, int32, int16, int8, uint8, boolean };

std::string_view name_of(Element element);
std::optional<Element> element_of(std::string_view name);
std::size_t size_of(Element element);
bool is_float(Element element);
/// float16 and bfloat16, whose operations compute in fp32.
bool is_half(Element element);
/// Throws NotJudged for integers and for float64, which binary64 does not judge.
Format format_of(Element element);

/// Why an operation is not judged, for people.
struct NotJudged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Sizes = std::vector<std::int64_t>;

/// A strided tensor in memory that outlives it.
struct View {
  Element element = Element::float32;
  Sizes sizes, strides;                 // strides in elements
  const std::byte* first = nullptr;     // of the element [0, …, 0]
  std::int64_t block = -1, offset = 0;  // where it lies: a storage at one of its versions, and an offset in elements

  std::int64_t count() const;
  std::int64_t dim() const { return static_cast<std::int64_t>(sizes.size()); }
  /// A size by its dimension; negative ones count from the last. 1 for a tensor without dimensions.
  std::int64_t size(std::int64_t dimension) const;

  /// Elements first … first + count - 1 in row-major order, as binary64; int64 beyond 2^53 rounds. Throws NotJudged for
  /// elements that there are not.
  void read(std::int64_t first, std::int64_t count, double* out) const;
  std::vector<double> read() const;
  /// Their raw bits, zero-extended.
  void read_bits(std::int64_t first, std::int64_t count, std::uint64_t* out) const;
  /// The one element of a tensor that has one. Throws NotJudged for others.
  double value() const;

  // Windows of the same memory. Dimensions may be negative.

  /// Dimensions in another order.
  View permuted(const Sizes& order) const;
  /// One dimension moved behind the others.
  View with_last(std::int64_t dimension) const;
  View narrowed(std::int64_t dimension, std::int64_t start, std::int64_t length) const;
  /// Element `index` of a dimension, which is then gone.
  View selected(std::int64_t dimension, std::int64_t index) const;
  /// Broadcast to these sizes. Throws NotJudged where they do not fit.
  View expanded(const Sizes& to) const;
};

/// A tensor that the recording does not hold: why.
struct Unrecorded {
  std::string why;
};

struct Value;
using Values = std::vector<Value>;
struct Value {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, View, Unrecorded, Values> is;
  bool absent() const { return std::holds_alternative<std::monostate>(is); }
};

/// The accessors throw NotJudged where an argument is missing, of another kind, or not recorded.
struct Call {
  std::string name;  // "addmm": without its library, its overload, and the underscore of what writes to `self`
  std::string full;  // "aten.addmm.default"
  std::map<std::string, Value, std::less<>> arguments, wrote;
  Values out;

  bool has(std::string_view argument) const;  // and it is not None
  const View& tensor(std::string_view argument) const;
  const View* tensor_or_none(std::string_view argument) const;
  std::vector<View> tensors(std::string_view argument) const;
  /// A number; a tensor of one element serves too.
  double number(std::string_view argument) const;
  double number(std::string_view argument, double otherwise) const;
  std::int64_t integer(std::string_view argument) const;
  std::int64_t integer(std::string_view argument, std::int64_t otherwise) const;
  bool flag(std::string_view argument, bool otherwise = false) const;
  std::string text(std::string_view argument, std::string_view otherwise = "") const;
  /// A list of integers; one integer is a list of one.
  Sizes integers(std::string_view argument) const;

  /// Return `index`.
  const View& result(std::size_t index = 0) const;
  std::vector<View> results(std::size_t index = 0) const;
  bool has_result(std::size_t index) const;
  /// What an argument held after the call.
  const View& written(std::string_view argument) const;
};

/// A dimension counted from the first. Throws NotJudged for one that there is not.
std::int64_t dimension_of(std::int64_t dimension, std::int64_t of);
/// What sizes broadcast to. Throws NotJudged where they do not.
Sizes broadcast(const Sizes& a, const Sizes& b);
std::int64_t count_of(const Sizes& sizes);

}  // namespace tally::oracle::operations
