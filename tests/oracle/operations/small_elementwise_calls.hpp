// A small call of each elementwise operation, of each reduction and of each order.
#pragma once

#include "tests/oracle/operations/machines.hpp"

namespace tally::oracle::operations {

inline void add_small_elementwise_calls(std::map<std::string, Call>& all) {
  const Element whole = Element::int64, boolean = Element::boolean;
  const auto add = [&](const std::string& name, const Arguments& arguments, const std::vector<Argument>& out) {
    all[name] = call_of(name, arguments, out);
  };
  const View x = vector_of({0.5, -0.25}), y = vector_of({2, 0.75}), b = vector_of({1, 0}, boolean),
             c = vector_of({1, 1}, boolean);
  const View six = vector_of({6, 5}, whole), three = vector_of({3, 2}, whole), one = number_of(1),
             g = vector_of({2, 3});
  const auto singles = [](const Numbers& of) {
    Numbers stored;
    for (const double each : of) stored.push_back(static_cast<float>(each));
    return vector_of(stored);
  };
  // Of x = 1/2, -1/4.
  const std::pair<const char*, Numbers> of_one[] = {{"neg", {-0.5, 0.25}},
                                                    {"abs", {0.5, 0.25}},
                                                    {"sign", {1, -1}},
                                                    {"sgn", {1, -1}},
                                                    {"relu", {0.5, 0}},
                                                    {"floor", {0, -1}},
                                                    {"ceil", {1, 0}},
                                                    {"trunc", {0, 0}},
                                                    {"round", {0, 0}},
                                                    {"reciprocal", {2, -4}},
                                                    {"sqrt", {std::sqrt(0.5), NAN}},
                                                    {"exp", {std::exp(0.5), std::exp(-0.25)}},
                                                    {"exp2", {std::exp2(0.5), std::exp2(-0.25)}},
                                                    {"expm1", {std::expm1(0.5), std::expm1(-0.25)}},
                                                    {"log", {std::log(0.5), NAN}},
                                                    {"log2", {-1, NAN}},
                                                    {"log10", {std::log10(0.5), NAN}},
                                                    {"log1p", {std::log1p(0.5), std::log1p(-0.25)}},
                                                    {"erf", {std::erf(0.5), std::erf(-0.25)}},
                                                    {"erfc", {std::erfc(0.5), std::erfc(-0.25)}},
                                                    {"tanh", {std::tanh(0.5), std::tanh(-0.25)}},
                                                    {"atan", {std::atan(0.5), std::atan(-0.25)}},
                                                    {"asin", {std::asin(0.5), std::asin(-0.25)}},
                                                    {"acos", {std::acos(0.5), std::acos(-0.25)}},
                                                    {"sinh", {std::sinh(0.5), std::sinh(-0.25)}},
                                                    {"sin", {std::sin(0.5), std::sin(-0.25)}},
                                                    {"cos", {std::cos(0.5), std::cos(-0.25)}},
                                                    {"sigmoid", {0.62245933120185457, 0.43782349911420193}},
                                                    {"silu", {0.31122966560092728, -0.10945587477855048}},
                                                    {"gelu", {0.34573123063700656, -0.10032341432922727}},
                                                    {"rsqrt", {std::sqrt(2.0), NAN}},
                                                    {"hardsigmoid", {3.5 / 6, 2.75 / 6}},
                                                    {"hardswish", {0.5 * 3.5 / 6, -0.25 * 2.75 / 6}},
                                                    {"cumsum", {0.5, 0.25}},
                                                    {"_softmax", {0.67917869917539297, 0.32082130082460703}},
                                                    {"_safe_softmax", {0.67917869917539297, 0.32082130082460703}},
                                                    {"softmax", {0.67917869917539297, 0.32082130082460703}},
                                                    {"_log_softmax", {-0.38687105, -1.13687105}},
                                                    {"log_softmax", {-0.38687105, -1.13687105}},
                                                    {"clone", {0.5, -0.25}},
                                                    {"contiguous", {0.5, -0.25}},
                                                    {"_unsafe_view", {0.5, -0.25}},
                                                    {"reshape", {0.5, -0.25}},
                                                    {"view_copy", {0.5, -0.25}},
                                                    {"_to_copy", {0.5, -0.25}},
                                                    {"copy", {0.5, -0.25}},
                                                    {"to", {0.5, -0.25}},
                                                    {"type_as", {0.5, -0.25}},
                                                    {"lift", {0.5, -0.25}},
                                                    {"repeat", {0.5, -0.25}},
                                                    {"zeros", {0, 0}},
                                                    {"zeros_like", {0, 0}},
                                                    {"new_zeros", {0, 0}},
                                                    {"zero", {0, 0}},
                                                    {"ones", {1, 1}},
                                                    {"ones_like", {1, 1}},
                                                    {"new_ones", {1, 1}}};
  for (const auto& [name, of] : of_one) add(name, {{"self", x}, {"dim", 0}}, {singles(of)});
  for (const char* name : {"isnan", "isinf"}) add(name, {{"self", x}}, {vector_of({0, 0}, boolean)});
  add("isfinite", {{"self", x}}, {c});
  add("logical_not", {{"self", x}}, {vector_of({0, 0}, boolean)});
  add("bitwise_not", {{"self", b}}, {vector_of({0, 1}, boolean)});
  // Of x and y = 2, 3/4.
  const std::pair<const char*, Numbers> of_two[] = {
      {"add", {2.5, 0.5}},        {"sub", {-1.5, -1}},       {"rsub", {1.5, 1}},
      {"mul", {1, -0.1875}},      {"div", {0.25, -1.0 / 3}}, {"true_divide", {0.25, -1.0 / 3}},
      {"maximum", {2, 0.75}},     {"minimum", {0.5, -0.25}}, {"lerp", {1.25, 0.25}},
      {"addcmul", {4.5, 0.3125}}, {"addcdiv", {1.5, 0.75}}};
  for (const auto& [name, of] : of_two)
    add(name, {{"self", x}, {"other", y}, {"end", y}, {"weight", 0.5}, {"tensor1", y}, {"tensor2", y}}, {singles(of)});
  const std::pair<const char*, Numbers> compared[] = {
      {"eq", {0, 0}}, {"ne", {1, 1}},          {"lt", {1, 1}},         {"le", {1, 1}},         {"gt", {0, 0}},
      {"ge", {0, 0}}, {"logical_and", {1, 1}}, {"logical_or", {1, 1}}, {"logical_xor", {0, 0}}};
  for (const auto& [name, of] : compared) add(name, {{"self", x}, {"other", y}}, {vector_of(of, boolean)});
  const std::pair<const char*, Numbers> of_bits[] = {
      {"bitwise_and", {2, 0}}, {"__and__", {2, 0}}, {"bitwise_or", {7, 7}},  {"__or__", {7, 7}},
      {"bitwise_xor", {5, 7}}, {"__xor__", {5, 7}}, {"floor_divide", {2, 2}}};
  for (const auto& [name, of] : of_bits) add(name, {{"self", six}, {"other", three}}, {vector_of(of, whole)});
  for (const char* name : {"clamp", "clamp_min"}) add(name, {{"self", x}, {"min", 0.0}}, {vector_of({0.5, 0})});
  add("clamp_max", {{"self", x}, {"max", 0.0}}, {vector_of({0, -0.25})});
  add("hardtanh", {{"self", x}, {"min_val", 0.0}, {"max_val", 6.0}}, {vector_of({0.5, 0})});
  add("pow", {{"self", x}, {"exponent", 3}}, {vector_of({0.125, -0.015625})});
  add("leaky_relu", {{"self", x}, {"negative_slope", 0.5}}, {vector_of({0.5, -0.125})});
  add("softplus", {{"self", x}, {"beta", 1}, {"threshold", 20}},
      {singles({std::log1p(std::exp(0.5)), std::log1p(std::exp(-0.25))})});
  // Gradients, of g = 2, 3.
  const double s0 = 0.62245933120185457, s1 = 0.43782349911420193;
  const std::pair<const char*, Numbers> gradients[] = {
      {"threshold_backward", {2, 0}},
      {"hardtanh_backward", {2, 0}},
      {"tanh_backward", {1.5, 2.8125}},
      {"sigmoid_backward", {0.5, -0.9375}},
      {"silu_backward", {2 * s0 * (1 + 0.5 * (1 - s0)), 3 * s1 * (1 - 0.25 * (1 - s1))}},
      {"gelu_backward",
       {2 * (0.69146246127401312 + 0.5 * 0.35206532676429952), 3 * (0.40129367431707630 - 0.25 * 0.38666811680284924)}},
      {"softplus_backward", {2 * s0, 3 * s1}},
      {"leaky_relu_backward", {2, 0.75}},
      {"hardsigmoid_backward", {2.0 / 6, 0.5}},
      {"hardswish_backward", {2 * (0.5 / 3 + 0.5), 3 * (-0.25 / 3 + 0.5)}},
      {"_softmax_backward_data", {2 * 0.5 - 0.125, -0.25 * 2.75}},
      {"_log_softmax_backward_data", {2 - 5 * std::exp(0.5), 3 - 5 * std::exp(-0.25)}}};
  for (const auto& [name, of] : gradients)
    add(name,
        {{"grad_output", g},
         {"self", x},
         {"output", x},
         {"threshold", std::string(name).starts_with("soft") ? 20.0 : 0.0},
         {"min_val", 0.0},
         {"max_val", 6.0},
         {"beta", 1},
         {"negative_slope", 0.25},
         {"dim", 0}},
        {singles(of)});
  // Reductions and orders.
  const std::pair<const char*, double> reduced[] = {{"sum", 0.25},
                                                    {"mean", 0.125},
                                                    {"linalg_vector_norm", std::sqrt(0.3125)},
                                                    {"norm", std::sqrt(0.3125)},
                                                    {"amax", 0.5},
                                                    {"amin", -0.25},
                                                    {"max", 0.5},
                                                    {"min", -0.25}};
  for (const auto& [name, of] : reduced) add(name, {{"self", x}}, {number_of(static_cast<float>(of))});
  add("argmax", {{"self", x}}, {number_of(0, whole)});
  add("argmin", {{"self", x}}, {number_of(1, whole)});
  add("any", {{"self", b}}, {number_of(1, boolean)});
  add("all", {{"self", b}}, {number_of(0, boolean)});
  add("sort", {{"self", x}}, {vector_of({-0.25, 0.5}), vector_of({1, 0}, whole)});
  add("topk", {{"self", x}}, {vector_of({0.5}), vector_of({0}, whole)});
  add("histc", {{"self", x}, {"min", -1}, {"max", 1}}, {vector_of({1, 1})});
}

}  // namespace tally::oracle::operations
