// Operations without arithmetic: their results are bits of what they read, in other places; and what they only name
// (views) or draw (inputs of what follows).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "oracle/case/tensors/tensor.hpp"
#include "oracle/operations/rule.hpp"

namespace tally::oracle::operations::moves_rules {
namespace {

/// Nothing to hold: another window of the same memory, an uninitialised or drawn tensor, or what reads a number.
std::vector<Demand> nothing(const Call&, const Profile&) { return {}; }

const RegisterOperations views{
    {"view",       "t",        "transpose", "permute",          "expand",         "unsqueeze",    "squeeze",
     "slice",      "select",   "split",     "split_with_sizes", "unbind",         "alias",        "detach",
     "as_strided", "diagonal", "unfold",    "lift_fresh",       "_reshape_alias", "view_as_real", "set_",
     "resize_",    "chunk",    "narrow",    "movedim",          "numpy_T",        "expand_as",    "view_as"},
    nothing};
const RegisterOperations drawn{{"empty",
                                "empty_like",
                                "empty_strided",
                                "new_empty",
                                "new_empty_strided",
                                "rand",
                                "randn",
                                "randint",
                                "rand_like",
                                "randn_like",
                                "randint_like",
                                "bernoulli",
                                "uniform",
                                "normal",
                                "random",
                                "randperm",
                                "multinomial",
                                "exponential",
                                "_local_scalar_dense",
                                "_record_function_enter_new",
                                "_record_function_exit",
                                "item",
                                "is_same_size",
                                "_has_compatible_shallow_copy_type",
                                "_assert_async"},
                               nothing};

/// A number in a format's bits, rounded once.
std::uint64_t bits_of(Element element, double value) {
  switch (element) {
    case Element::float32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case Element::float64:
      return std::bit_cast<std::uint64_t>(value);
    case Element::bfloat16:
      return std::bit_cast<std::uint32_t>(static_cast<float>(rounded(format_of(element), value))) >> 16;
    case Element::float16: {
      Tensor one(Dtype::fp16, {});
      one.set(0, rounded(format_of(element), value));
      return one.bits(0);
    }
    default: {
      const auto whole = static_cast<std::int64_t>(value);
      const std::size_t bytes = size_of(element);
      return bytes == 8 ? static_cast<std::uint64_t>(whole)
                        : static_cast<std::uint64_t>(whole) & ((std::uint64_t{1} << (8 * bytes)) - 1);
    }
  }
}

std::uint64_t bits_at(const View& view, std::int64_t offset) {
  std::uint64_t bits = 0;
  const std::size_t bytes = size_of(view.element);
  std::memcpy(&bits, view.first + offset * static_cast<std::int64_t>(bytes), bytes);
  return bits;
}

/// Steps through a tensor's places in row-major order.
class Places {
 public:
  Places(const Sizes& sizes, std::int64_t first) : at(sizes.size()), sizes_(sizes) {
    for (std::size_t i = sizes.size(); i-- > 0;) {
      at[i] = first % sizes[i];
      first /= sizes[i];
    }
  }
  void next() {
    for (std::size_t i = at.size(); i-- > 0;) {
      if (++at[i] < sizes_[i]) return;
      at[i] = 0;
    }
  }
  Sizes at;

 private:
  const Sizes& sizes_;
};

constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::min();

/// Each element is that of `from` at an offset that `f` says of its place, or `otherwise` where f says `nowhere`.
template <class F>
Demand placed(const std::string& output, const View& found, const View& from, std::uint64_t otherwise, F f) {
  if (from.element != found.element) throw NotJudged("a move between formats");
  std::int64_t low = 0, high = 0;
  for (std::size_t i = 0; i < from.sizes.size(); ++i)
    (from.strides[i] < 0 ? low : high) += (from.sizes[i] - 1) * from.strides[i];
  if (from.count() == 0) high = -1;
  return {output, found, Demand::raw, 1, {}, [=](std::int64_t first, std::int64_t count, std::uint64_t* out) {
            Places places(found.sizes, first);
            for (std::int64_t i = 0; i < count; ++i, places.next()) {
              const std::int64_t offset = f(places.at);
              if (offset != nowhere && (offset < low || offset > high)) throw NotJudged("an index beyond its tensor");
              out[i] = offset == nowhere ? otherwise : bits_at(from, offset);
            }
          }};
}

std::int64_t offset_in(const View& view, const Sizes& at) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < at.size(); ++i) offset += at[i] * view.strides[i];
  return offset;
}

std::vector<std::int64_t> whole_numbers(const View& view) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(view.count()));
  std::vector<double> values = view.read();
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(values[i]);
  return all;
}

std::vector<Demand> copied(const Call& call, const Profile&) {
  const View out = output_of(call);
  return {moved(output_name(call), out, call.tensor("self").expanded(out.sizes))};
}
const RegisterOperations copies{{"clone", "contiguous"}, copied};

/// Another shape of the same elements in row-major order.
std::vector<Demand> reshaped(const Call& call, const Profile&) {
  return {moved(output_name(call), output_of(call), call.tensor("self"))};
}
const RegisterOperations shapes{{"_unsafe_view", "reshape", "view_copy"}, reshaped};

/// One rounding into the other format; none where it is the same.
std::vector<Demand> cast(const Call& call, const Profile&) {
  const View out = output_of(call),
             from = (call.has("src") ? call.tensor("src") : call.tensor("self")).expanded(out.sizes);
  if (from.element == out.element) return {moved(output_name(call), out, from)};
  if (is_half(out.element) && from.element == Element::float64)
    throw NotJudged("float64 to 16 bits, which may go through fp32");
  // Booleans tell whether it is 0; whole numbers wrap, where a float beyond them may be any.
  const bool whole = !is_float(out.element) && out.element != Element::boolean, floats = is_float(from.element);
  return {{output_name(call),
           out,
           Demand::bits,
           1,
           [=](Part& part) {
             from.read(part.first, part.count, part.v);
             for (std::int64_t i = 0; i < part.count; ++i) {
               if (whole) part.v[i] = std::trunc(part.v[i]);
               const bool fits =
                   floats ? !whole || written(out.element, part.v[i]) == part.v[i] : std::fabs(part.v[i]) < 0x1p53;
               if (!fits) part.e[i] = infinite;
             }
           },
           {}}};
}
const RegisterOperations casts{{"_to_copy", "copy", "to", "type_as", "lift"}, cast};

std::vector<Demand> joined(const Call& call, const Profile&) {
  const View out = output_of(call);
  const bool stacks = call.name == "stack";
  std::vector<Demand> all;
  std::int64_t start = 0;
  std::size_t number = 0;
  for (const View& part : call.tensors("tensors")) {
    const std::string name = "result, of tensor " + std::to_string(number++);
    const std::int64_t dim = dimension_of(call.integer("dim", 0), out.dim());
    if (!stacks && part.dim() == 1 && part.count() == 0) continue;
    View window = stacks ? out.selected(dim, start) : out.narrowed(dim, start, part.size(dim));
    if (part.element == out.element)
      all.push_back(moved(name, window, part));
    else
      all.push_back(rounded_once<1>(call, name, window, {part}, [](double x) { return x; }));
    start += stacks ? 1 : part.size(dim);
  }
  return all;
}
const RegisterOperations joins{{"cat", "stack"}, joined};

std::vector<Demand> split_off(const Call& call, const Profile&) {
  const View& from = call.tensor("self");
  const std::int64_t dim = dimension_of(call.integer("dim", 0), from.dim());
  std::vector<Demand> all;
  std::int64_t start = 0;
  for (const View& part : call.results()) {
    all.push_back(moved("result " + std::to_string(all.size()), part, from.narrowed(dim, start, part.size(dim))));
    start += part.size(dim);
  }
  return all;
}
const RegisterOperations splits{
    {"unsafe_split", "unsafe_split_with_sizes", "unsafe_chunk", "split_copy", "split_with_sizes_copy"}, split_off};

/// The same sizes, laid out row by row.
View in_rows(View out) {
  std::int64_t stride = 1;
  for (std::size_t i = out.sizes.size(); i-- > 0; stride *= out.sizes[i]) out.strides[i] = stride;
  out.offset = 0;
  return out;
}

std::vector<Demand> sliced_backward(const Call& call, const Profile&) {
  const View out = output_of(call), &gradient = call.tensor("grad_output");
  const std::int64_t dim = dimension_of(call.integer("dim"), out.dim()), size = out.size(dim);
  if (gradient.dim() != out.dim() - (call.name == "select_backward" ? 1 : 0))
    throw NotJudged("a gradient of other dimensions");
  if (call.name == "select_backward") {
    const std::int64_t index = call.integer("index") < 0 ? call.integer("index") + size : call.integer("index");
    return {placed("result", out, gradient, 0, [=](const Sizes& at) -> std::int64_t {
      if (at[static_cast<std::size_t>(dim)] != index) return nowhere;
      std::int64_t offset = 0;
      for (std::size_t i = 0, k = 0; i < at.size(); ++i)
        if (i != static_cast<std::size_t>(dim)) offset += at[i] * gradient.strides[k++];
      return offset;
    })};
  }
  const std::int64_t step = call.integer("step", 1);
  if (step < 1) throw NotJudged("a slice with a step below 1");
  std::int64_t start = call.integer("start", 0);
  start = std::clamp<std::int64_t>(start < 0 ? start + size : start, 0, size);
  return {placed("result", out, gradient, 0, [=](const Sizes& at) -> std::int64_t {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      std::int64_t place = at[i];
      if (i == static_cast<std::size_t>(dim)) {
        if (place < start || (place - start) % step != 0 || (place - start) / step >= gradient.sizes[i]) return nowhere;
        place = (place - start) / step;
      }
      offset += place * gradient.strides[i];
    }
    return offset;
  })};
}
const RegisterOperations slices{{"slice_backward", "select_backward"}, sliced_backward};

std::vector<Demand> padded(const Call& call, const Profile&) {
  const View out = output_of(call), from = call.tensor("self");
  const Sizes pad = call.integers("pad");
  expect_sizes(from.dim() == out.dim());
  Sizes before(out.sizes.size());
  for (std::size_t i = 0; i < pad.size() / 2 && i < before.size(); ++i) before[before.size() - 1 - i] = pad[2 * i];
  return {
      placed("result", out, from, bits_of(out.element, call.number("value", 0)), [=](const Sizes& at) -> std::int64_t {
        std::int64_t offset = 0;
        for (std::size_t i = 0; i < at.size(); ++i) {
          const std::int64_t place = at[i] - before[i];
          if (place < 0 || place >= from.sizes[i]) return nowhere;
          offset += place * from.strides[i];
        }
        return offset;
      })};
}
const RegisterOperations pads{{"constant_pad_nd"}, padded};

std::vector<Demand> triangle(const Call& call, const Profile&) {
  const View out = output_of(call), from = call.tensor("self");
  expect_sizes(out.dim() >= 2 && out.sizes == from.sizes);
  const std::int64_t diagonal = call.integer("diagonal", 0);
  const bool lower = call.name.starts_with("tril");
  return {placed(output_name(call), out, from, 0, [=](const Sizes& at) -> std::int64_t {
    const std::int64_t row = at[at.size() - 2], column = at[at.size() - 1];
    const bool kept = lower ? column - row <= diagonal : column - row >= diagonal;
    return kept ? offset_in(from, at) : nowhere;
  })};
}
const RegisterOperations triangles{{"tril", "triu"}, triangle};

std::vector<Demand> turned(const Call& call, const Profile&) {
  const View out = output_of(call), from = call.tensor("self");
  if (call.name != "repeat") expect_sizes(out.sizes == from.sizes);
  if (call.name == "flip") {
    std::vector<bool> flips(std::max<std::size_t>(out.sizes.size(), 1));
    for (const std::int64_t dim : call.integers("dims"))
      flips[static_cast<std::size_t>(dimension_of(dim, out.dim()))] = true;
    return {placed("result", out, from, 0, [=](const Sizes& at) {
      std::int64_t offset = 0;
      for (std::size_t i = 0; i < at.size(); ++i)
        offset += (flips[i] ? from.sizes[i] - 1 - at[i] : at[i]) * from.strides[i];
      return offset;
    })};
  }
  if (call.name == "roll") {
    const Sizes shifts = call.integers("shifts"), dims = call.integers("dims");
    if (dims.empty() || out.dim() == 0) throw NotJudged("a roll of all dimensions as one");
    if (shifts.size() != dims.size()) throw NotJudged("a roll without a shift for each dimension");
    Sizes shift(out.sizes.size());
    for (std::size_t i = 0; i < dims.size(); ++i)
      shift[static_cast<std::size_t>(dimension_of(dims[i], out.dim()))] += shifts[i];
    return {placed("result", out, from, 0, [=](const Sizes& at) {
      std::int64_t offset = 0;
      for (std::size_t i = 0; i < at.size(); ++i) {
        const std::int64_t n = from.sizes[i];
        offset += ((at[i] - shift[i]) % n + n) % n * from.strides[i];
      }
      return offset;
    })};
  }
  expect_sizes(out.dim() >= from.dim() && (out.count() == 0 || from.count() > 0));
  const std::size_t more = out.sizes.size() - from.sizes.size();  // repeat
  return {placed("result", out, from, 0, [=](const Sizes& at) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < from.sizes.size(); ++i) offset += at[i + more] % from.sizes[i] * from.strides[i];
    return offset;
  })};
}
const RegisterOperations turns{{"flip", "roll", "repeat"}, turned};

std::vector<Demand> looked_up(const Call& call, const Profile&) {
  const View out = output_of(call), weight = call.tensor("weight"), indices = call.tensor("indices");
  const std::vector<std::int64_t> rows = whole_numbers(indices);
  const std::int64_t width = weight.size(1);
  expect_sizes(weight.dim() == 2 && weight.element == out.element && out.count() == indices.count() * width);
  for (const std::int64_t row : rows)
    if (row < 0 || row >= weight.size(0)) throw NotJudged("an index beyond its table");
  return {{"result", out, Demand::raw, 1, {}, [=](std::int64_t first, std::int64_t count, std::uint64_t* to) {
             while (count > 0) {
               const std::int64_t column = first % width, n = std::min(count, width - column);
               weight.read_bits(rows[static_cast<std::size_t>(first / width)] * width + column, n, to);
               first += n;
               count -= n;
               to += n;
             }
           }}};
}
const RegisterOperations tables{{"embedding"}, looked_up};

/// gather, index_select: one dimension's place is read from an index.
std::vector<Demand> gathered(const Call& call, const Profile&) {
  const View out = output_of(call), from = call.tensor("self"), index = call.tensor("index");
  const auto dim = static_cast<std::size_t>(dimension_of(call.integer("dim"), from.dim()));
  const std::vector<std::int64_t> places = whole_numbers(index);
  const bool selects = call.name == "index_select";
  expect_sizes(out.dim() == from.dim() && (selects || out.sizes == index.sizes));
  const std::int64_t most = from.size(static_cast<std::int64_t>(dim));
  for (const std::int64_t place : places)
    if (place < 0 || place >= most) throw NotJudged("an index beyond its tensor");
  Sizes steps(out.sizes.size(), 0);
  if (!selects) steps = in_rows(index).strides;
  return {placed("result", out, from, 0, [=](const Sizes& at) {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < at.size(); ++i) place += at[i] * steps[i];
    const std::int64_t chosen = places.at(static_cast<std::size_t>(!selects ? place : at.empty() ? 0 : at[dim]));
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < at.size(); ++i) offset += (i == dim ? chosen : at[i]) * from.strides[i];
    return offset;
  })};
}
const RegisterOperations gathers{{"gather", "index_select"}, gathered};

std::vector<Demand> filled(const Call& call, const Profile&) {
  const View out = output_of(call);
  const std::string& name = call.name;
  double value = 0;
  if (name.starts_with("ones") || name.starts_with("new_ones")) value = 1;
  if (name.starts_with("full") || name.starts_with("new_full")) value = call.number("fill_value");
  if (name.starts_with("fill")) value = call.number("value");
  if (name == "scalar_tensor") value = call.number("s");
  return {constant(output_name(call), out, value)};
}
const RegisterOperations fills{{"zeros", "zeros_like", "new_zeros", "zero", "ones", "ones_like", "new_ones", "full",
                                "full_like", "new_full", "fill", "scalar_tensor"},
                               filled};

std::vector<Demand> chosen(const Call& call, const Profile&) {
  const View out = output_of(call);
  if (call.name.starts_with("where")) {
    return {rounded_once<3>(call, output_name(call), out,
                            {call.tensor("condition"), operand_of(call, "self"), operand_of(call, "other")},
                            [](double which, double x, double y) { return which != 0 ? x : y; })};
  }
  return {rounded_once<3>(call, output_name(call), out,
                          {call.tensor("mask"), call.tensor("self"), operand_of(call, "value")},
                          [](double masked, double x, double value) { return masked != 0 ? value : x; })};
}
const RegisterOperations choices{{"where", "masked_fill"}, chosen};

std::vector<Demand> counted_up(const Call& call, const Profile&) {
  const View out = output_of(call);
  if (is_float(out.element)) throw NotJudged("a range of floats");
  const double start = call.number("start", 0), step = call.number("step", 1);
  return {{"result",
           out,
           Demand::bits,
           1,
           [=](Part& part) {
             for (std::int64_t i = 0; i < part.count; ++i)
               part.v[i] = start + step * static_cast<double>(part.first + i);
           },
           {}}};
}
const RegisterOperations registered{{"arange"}, counted_up};

}  // namespace
}  // namespace tally::oracle::operations::moves_rules
