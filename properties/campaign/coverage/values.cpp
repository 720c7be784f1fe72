// Coverage of formats, of values by class of bit pattern, and of sizes.
#include <algorithm>
#include <cmath>
#include <utility>

#include "oracle/case/tensors/tensor.hpp"
#include "oracle/tolerance/format.hpp"
#include "properties/campaign/coverage/coverage_point.hpp"

namespace tally::values_trigger {
namespace {

template <Dtype storage>
bool stored(const Sight& s) {
  return s.c.precision.storage == storage;
}
bool no_tf32(const Sight& s) { return !s.c.precision.tf32; }

bool is_subnormal(double v, Dtype d) { return v != 0 && std::fabs(v) < std::ldexp(1.0, oracle::format_of(d).emin); }
bool positive_zero(const Sight& s) {
  return s.any_x([](double v, Dtype) { return v == 0 && !std::signbit(v); });
}
bool negative_zero(const Sight& s) {
  return s.any_x([](double v, Dtype) { return v == 0 && std::signbit(v); });
}
bool subnormal_input(const Sight& s) { return s.any_x(is_subnormal); }
bool subnormal_gradient(const Sight& s) { return s.any_value("backward", is_subnormal); }
bool power_of_two(const Sight& s) {
  return s.any_x([](double v, Dtype) {
    int exponent = 0;
    return v != 0 && std::fabs(std::frexp(v, &exponent)) == 0.5;
  });
}

/// The significand as an integer of all p bits; 0 outside the normal range.
std::uint64_t significand(double v, Dtype d) {
  const int p = oracle::format_of(d).p;
  if (v == 0 || !std::isfinite(v) || is_subnormal(v, d)) return 0;
  int exponent = 0;
  return static_cast<std::uint64_t>(std::ldexp(std::fabs(std::frexp(v, &exponent)), p));
}
bool beside_a_power(const Sight& s) {
  return s.any_x([](double v, Dtype d) {
    const std::uint64_t bits = significand(v, d), lowest = std::uint64_t{1} << (oracle::format_of(d).p - 1);
    return bits == lowest + 1 || bits == 2 * lowest - 1;
  });
}

/// Half-way between two numbers of the next narrower format.
bool half_way(const Sight& s) {
  return s.any_x([](double v, Dtype d) {
    const int p = oracle::format_of(d).p, dropped = p - next_narrower(p);
    const std::uint64_t bits = significand(v, d), tail = bits & ((std::uint64_t{1} << dropped) - 1);
    return bits != 0 && tail == std::uint64_t{1} << (dropped - 1);
  });
}

/// Neighbours in a row of x that cancel to an ulp or less.
bool cancelling_pair(const Sight& s) {
  if (s.c.model.tokens) return false;
  const Tensor& x = s.c.tensors.at("x");
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(x.dtype) - 1);
  for (std::size_t i = 1; i < x.elements(); ++i) {
    const std::uint64_t a = x.bits(i - 1), b = x.bits(i);
    const auto apart = static_cast<std::int64_t>(a & ~sign) - static_cast<std::int64_t>(b & ~sign);
    const bool in_a_row = i % static_cast<std::size_t>(s.c.model.input) != 0;
    if (in_a_row && ((a ^ b) & sign) != 0 && (a & ~sign) != 0 && std::abs(apart) <= 1) return true;
  }
  return false;
}

/// Sizes of x that are not zero, sorted.
std::vector<double> sizes(const Sight& s) {
  if (s.c.model.tokens) return {};
  const Tensor& x = s.c.tensors.at("x");
  std::vector<double> all;
  for (std::size_t i = 0; i < x.elements(); ++i) {
    if (x.value(i) != 0) all.push_back(std::fabs(x.value(i)));
  }
  std::sort(all.begin(), all.end());
  return all;
}
bool outlier(const Sight& s) {
  const auto all = sizes(s);
  return all.size() > 3 && all.back() > 64 * all[all.size() / 2];
}
bool graded(const Sight& s) {
  const auto all = sizes(s);
  return all.size() > 7 && all[all.size() * 3 / 4] > 16 * all[all.size() / 4];
}

/// An element of the buffer that ends far below what it was after an earlier micro-batch.
bool cancelling_sum(const Sight& s) {
  for (std::size_t w = 0; w < s.windows(); ++w) {
    for (const std::string& parameter : parameters_of(s.c.model)) {
      const Tensor* before = nullptr;
      for (std::size_t k = 0; k < s.c.windows[w].size(); ++k) {
        const Tensor* now = s.tap(w, "m" + std::to_string(k) + "/accumulate", "buffer." + parameter);
        for (std::size_t i = 0; before && now && i < now->elements(); ++i) {
          if (std::fabs(now->value(i)) * 16 < std::fabs(before->value(i))) return true;
        }
        before = now;
      }
    }
  }
  return false;
}

/// One for each storage format, before the others.
template <std::size_t... row>
std::vector<Trigger> with_storage(std::index_sequence<row...>, const std::vector<Trigger>& others) {
  std::vector<Trigger> all{
      {std::string(format_rows[row].name), TriggerKind::of_case, "storage", stored<format_rows[row].dtype>}...};
  std::erase_if(all, [](const Trigger& each) { return !format_row(*dtype_of(each.name)).uses.storage; });
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

const Register<TriggerGroup> registered{
    {9, "formats and values",
     with_storage(
         std::make_index_sequence<format_rows.size()>(),
         {{"TF32 off", TriggerKind::of_case, "", no_tf32},
          {"TF32 on", TriggerKind::later, "the built-in training step takes no tf32; a claim of a capture may",
           nullptr},
          {"positive zero", TriggerKind::of_case, "in x", positive_zero},
          {"negative zero", TriggerKind::of_case, "in x", negative_zero},
          {"subnormal input", TriggerKind::of_case, "in x", subnormal_input},
          {"subnormal gradient", TriggerKind::of_case, "that backward stores", subnormal_gradient},
          {"power of two", TriggerKind::of_case, "in x", power_of_two},
          {"neighbour of a power of two", TriggerKind::of_case, "in x", beside_a_power},
          {"half-way case", TriggerKind::of_case, "in x, between two numbers of the next narrower format", half_way},
          {"cancelling pair", TriggerKind::of_case, "neighbours in a row of x, to an ulp", cancelling_pair},
          {"outlier", TriggerKind::of_case, "in x, above 64 times the median", outlier},
          {"graded magnitudes", TriggerKind::of_case, "quartiles of x more than a factor of 16 apart", graded},
          {"cancelling sum", TriggerKind::of_case, "a gradient falls to a sixteenth from one micro-batch to the next",
           cancelling_sum}})}};

}  // namespace
}  // namespace tally::values_trigger

// Sizes that no kernel's launch knows by itself; how they fall into warps, blocks and strides is counted by kernel
// (properties/campaign/coverage/coverage.hpp).
namespace tally::sizes_trigger {
namespace {

/// Features of any layer, or rows of any micro-batch.
bool any_size(const Sight& s, bool (*holds)(std::int64_t)) {
  for (std::size_t i = 0; i <= s.c.model.layers.size(); ++i) {
    if (holds(features_before(s.c.model, i))) return true;
  }
  return std::any_of(s.c.windows.begin(), s.c.windows.end(),
                     [&](const auto& window) { return std::any_of(window.begin(), window.end(), holds); });
}
bool no_vector(const Sight& s) {
  return any_size(s, [](std::int64_t n) { return n > 4 && n % 4 != 0; });
}
bool one_element(const Sight& s) {
  for (const std::string& parameter : parameters_of(s.c.model)) {
    if (s.c.tensors.at(parameter).elements() == 1) return true;
  }
  return false;
}
bool beyond_the_grid(const Sight& s) {
  return any_size(s, [](std::int64_t n) { return n > 65535; });
}

const Register<TriggerGroup> registered{
    {8,
     "sizes",
     {{"no multiple of a vector", TriggerKind::of_case, "more than 4 and no multiple of 4", no_vector},
      {"one element", TriggerKind::of_case, "a parameter of a single element", one_element},
      {"more than 65,535 rows", TriggerKind::of_kernel, "a grid's limit in its second dimension", beyond_the_grid},
      {"no element", TriggerKind::of_kernel, "a kernel called on an empty tensor", nullptr},
      {"index above 2^31", TriggerKind::later, "a tensor of that size takes more memory than a test has", nullptr}}}};

}  // namespace
}  // namespace tally::sizes_trigger
