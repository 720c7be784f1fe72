// Elementwise arithmetic and decisions: one operation is held to its bits, several to the algebra.
#include <algorithm>
#include <cmath>

#include "oracle/operations/rule.hpp"

namespace tally::oracle::operations::arithmetic_rules {
namespace {

using Demands = std::vector<Demand>;

/// `other`: a tensor, or a number that a kernel of 16 bits may round to them.
Operand second_of(const Call& call, const Profile& profile) {
  const auto found = call.arguments.find("other");
  const bool number = found == call.arguments.end() || !std::holds_alternative<View>(found->second.is);
  return number ? scalar_of(call, profile, "other", 0) : operand_of(call, "other");
}

/// x + alpha y; x - alpha y; y - alpha x. A product that is not fused rounds.
Demands sum_of_two(const Call& call, const Profile& profile) {
  const View out = output_of(call);
  const double alpha = call.number("alpha", 1);
  const bool reversed = call.name.starts_with("rsub");
  const double sign = call.name.starts_with("add") ? 1 : -1;
  Operand x = operand_of(call, "self");
  Operand y = second_of(call, profile);
  if (reversed) std::swap(x, y);
  const std::vector<Operand> operands{x, y};
  const bool exact = Reader(operands, out).exact();
  if (!is_float(out.element) || (alpha == 1 && exact))
    return {rounded_once<2>(call, output_name(call), out, operands,
                            [=](double a, double b) { return a + sign * alpha * b; })};
  // A kernel of 16 bits may round its scalar to them first.
  const bool stores = is_half(out.element) && profile.says(call.name, out.element, "scalar_in_storage");
  const double off = stores ? std::fabs(rounded(format_of(out.element), alpha) - alpha) : 0;
  const Bounded scale{sign * static_cast<float>(alpha), off};
  return {elementwise<2>(call, profile, output_name(call), out, operands, [=](const auto& a, Bounded p, Bounded q) {
    return a.add(p, alpha == 1 ? Bounded{sign * q.v, q.e} : a.mul(scale, q));
  })};
}
const RegisterOperations sums{{"add", "sub", "rsub"}, sum_of_two};

/// x y.
Demands product_of_two(const Call& call, const Profile& profile) {
  const View out = output_of(call);
  const std::vector<Operand> operands{operand_of(call, "self"), second_of(call, profile)};
  if (Reader(operands, out).exact())
    return {rounded_once<2>(call, output_name(call), out, operands, [](double x, double y) { return x * y; })};
  return {elementwise<2>(call, profile, output_name(call), out, operands,
                         [](const auto& a, Bounded x, Bounded y) { return a.mul(x, y); })};
}
const RegisterOperations products{{"mul"}, product_of_two};

/// x / y. A kernel may multiply by the number's reciprocal where the profile says so.
Demands quotient_of_two(const Call& call, const Profile& profile) {
  const View out = output_of(call);
  const std::vector<Operand> operands{operand_of(call, "self"), second_of(call, profile)};
  const std::string mode = call.text("rounding_mode");
  const bool floors = mode == "floor" || call.name == "floor_divide";
  if (floors || mode == "trunc") {
    if (is_float(out.element)) throw NotJudged("a quotient of floats that is rounded to an integer");
    return {rounded_once<2>(call, output_name(call), out, operands,
                            [=](double x, double y) { return floors ? std::floor(x / y) : std::trunc(x / y); })};
  }
  const bool by_reciprocal = !operands[1].view && profile.says(call.name, out.element, "by_reciprocal");
  if (Reader(operands, out).exact() && !by_reciprocal)
    return {rounded_once<2>(call, output_name(call), out, operands, [](double x, double y) { return x / y; })};
  return {elementwise<2>(call, profile, output_name(call), out, operands, [=](const auto& a, Bounded x, Bounded y) {
    const Bounded quotient = a.div(x, y);
    return by_reciprocal ? either(a, quotient, a.mul(x, a.div({1, 0}, y))) : quotient;
  })};
}
const RegisterOperations quotients{{"div", "true_divide", "floor_divide"}, quotient_of_two};

Demands of_one(const Call& call, const Profile& profile) {
  const View out = output_of(call);
  const std::string& op = call.name;
  const std::vector<Operand> x{call.tensor("self")};
  const auto exactly = [&](double (*f)(double)) {
    return Demands{rounded_once<1>(call, output_name(call), out, x, f)};
  };
  if (op == "neg") return exactly([](double a) { return -a; });
  if (op == "abs") return exactly([](double a) { return std::fabs(a); });
  if (op == "sign" || op == "sgn") return exactly([](double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : 0.0; });
  if (op == "relu") return exactly([](double a) { return a < 0 ? 0.0 : a; });
  if (op == "floor") return exactly([](double a) { return std::floor(a); });
  if (op == "ceil") return exactly([](double a) { return std::ceil(a); });
  if (op == "trunc") return exactly([](double a) { return std::trunc(a); });
  if (op == "round" && call.has("decimals")) throw NotJudged("a number rounded to decimals");
  if (op == "round") return exactly([](double a) { return std::nearbyint(a); });
  if (op == "isnan") return exactly([](double a) { return std::isnan(a) ? 1.0 : 0.0; });
  if (op == "isinf") return exactly([](double a) { return std::isinf(a) ? 1.0 : 0.0; });
  if (op == "isfinite") return exactly([](double a) { return std::isfinite(a) ? 1.0 : 0.0; });
  if (op == "logical_not") return exactly([](double a) { return a == 0 ? 1.0 : 0.0; });
  if (op == "bitwise_not")
    return out.element == Element::boolean ? exactly([](double a) { return a == 0 ? 1.0 : 0.0; })
                                           : exactly([](double a) { return -a - 1; });
  if (op == "reciprocal" && Reader(x, out).exact()) return exactly([](double a) { return 1 / a; });
  if (op == "reciprocal")
    return {elementwise<1>(call, profile, output_name(call), out, x, [](const auto& a, Bounded b) {
      return a.div({1, 0}, b);
    })};
  const double ulps = profile.number(op, out.element, "ulps", 0.5);  // sqrt: to nearest unless it is claimed otherwise
  if (ulps <= 0.5 && Reader(x, out).exact()) return exactly([](double a) { return std::sqrt(a); });
  return {elementwise<1>(call, profile, output_name(call), out, x, [=](const auto& a, Bounded b) {
    if (b.e > 0) return a.sqrt(b);
    return a.monotone([](double y) { return std::sqrt(y); }, b, claimed(ulps));
  })};
}
const RegisterOperations ones{{"neg", "abs", "sign", "sgn", "relu", "floor", "ceil", "trunc", "round", "isnan", "isinf",
                               "isfinite", "logical_not", "bitwise_not", "reciprocal", "sqrt"},
                              of_one};

double of_two(const std::string& op, double x, double y) {
  if (op == "maximum") return std::isnan(x) || x > y ? x : y;
  if (op == "minimum") return std::isnan(x) || x < y ? x : y;
  if (op == "eq") return x == y;
  if (op == "ne") return x != y;
  if (op == "lt") return x < y;
  if (op == "le") return x <= y;
  if (op == "gt") return x > y;
  if (op == "ge") return x >= y;
  const bool a = x != 0, b = y != 0;
  if (op.ends_with("and"))
    return op.starts_with("bitwise") ? static_cast<double>(static_cast<std::int64_t>(x) & static_cast<std::int64_t>(y))
                                     : a && b;
  if (op.ends_with("xor"))
    return op.starts_with("bitwise") ? static_cast<double>(static_cast<std::int64_t>(x) ^ static_cast<std::int64_t>(y))
                                     : a != b;
  return op.starts_with("bitwise") ? static_cast<double>(static_cast<std::int64_t>(x) | static_cast<std::int64_t>(y))
                                   : a || b;
}

Demands decided_of_two(const Call& call, const Profile&) {
  const View out = output_of(call);
  std::string op = call.name;
  if (op.starts_with("__")) op = "bitwise_" + op.substr(2, op.size() - 4);
  Operand x = operand_of(call, "self"), y = operand_of(call, "other");
  // A number is compared in the tensor's format.
  if (x.view && !y.view && is_float(x.view->element) && x.view->element != Element::float64)
    y.number = rounded(format_of(x.view->element), call.number("other"));
  return {rounded_once<2>(call, output_name(call), out, {x, y},
                          [op](double a, double b) { return static_cast<double>(of_two(op, a, b)); })};
}
const RegisterOperations comparisons{
    {"maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor",
     "bitwise_and", "bitwise_or", "bitwise_xor", "__and__", "__or__", "__xor__"},
    decided_of_two};

/// clamp, hardtanh and their like: the number between two.
Demands clamped(const Call& call, const Profile&) {
  const View out = output_of(call);
  std::vector<Operand> operands{call.tensor("self")};
  const bool tanh = call.name.starts_with("hardtanh");
  const char* low = tanh ? "min_val" : "min";
  const char* high = tanh ? "max_val" : "max";
  const auto limit = [&](const char* name, double otherwise) {
    if (!call.has(name)) return Operand(otherwise);
    Operand found = operand_of(call, name);
    if (!found.view && is_half(out.element)) found.number = rounded(format_of(out.element), found.number);
    return found;
  };
  operands.push_back(limit(low, -infinite));
  operands.push_back(limit(high, infinite));
  return {rounded_once<3>(call, output_name(call), out, operands, [](double x, double a, double b) {
    return std::isnan(x) || std::isnan(a) || std::isnan(b) ? NAN : std::min(std::max(x, a), b);
  })};
}
const RegisterOperations clamps{{"clamp", "clamp_min", "clamp_max", "hardtanh"}, clamped};

/// A gradient that passes where the input lies in a range, and is 0 elsewhere.
Demands passed(const Call& call, const Profile&) {
  const View out = output_of(call);
  const std::vector<Operand> operands{call.tensor("grad_output"), call.tensor("self")};
  if (call.name == "threshold_backward") {
    const double threshold = call.number("threshold");
    return {rounded_once<2>(call, output_name(call), out, operands,
                            [=](double g, double x) { return x <= threshold ? 0.0 : g; })};
  }
  const double low = static_cast<float>(call.number("min_val")), high = static_cast<float>(call.number("max_val"));
  return {rounded_once<2>(call, output_name(call), out, operands,
                          [=](double g, double x) { return x <= low || x >= high ? 0.0 : g; })};
}
const RegisterOperations gates{{"threshold_backward", "hardtanh_backward"}, passed};

/// x + value t1 t2 and x + value t1 / t2, whichever of the factors is taken first.
Demands added_product(const Call& call, const Profile& profile) {
  const View out = output_of(call);
  const bool divides = call.name.find("addcdiv") != std::string::npos;
  const auto factor = [&](const char* name) { return operand_of(call, name); };
  const std::vector<Operand> operands{call.tensor("self"), factor("tensor1"), factor("tensor2"),
                                      call.has("value") ? operand_of(call, "value") : Operand(1.0)};
  return {elementwise<4>(call, profile, output_name(call), out, operands,
                         [=](const auto& a, Bounded x, Bounded p, Bounded q, Bounded value) {
                           const auto both = [&](Bounded l, Bounded r) { return divides ? a.div(l, r) : a.mul(l, r); };
                           const Bounded first = both(a.mul(value, p), q), second = a.mul(value, both(p, q));
                           return either(a, a.add(x, first), a.add(x, second));
                         })};
}
const RegisterOperations fused{{"addcmul", "addcdiv"}, added_product};

/// x + w (y - x), or y - (y - x)(1 - w).
Demands between_two(const Call& call, const Profile& profile) {
  const View out = output_of(call);
  const std::vector<Operand> operands{call.tensor("self"), operand_of(call, "end"), operand_of(call, "weight")};
  return {elementwise<3>(
      call, profile, output_name(call), out, operands, [](const auto& a, Bounded x, Bounded y, Bounded w) {
        const Bounded way = a.sub(y, x);
        const Bounded from_x = a.add(x, a.mul(w, way)), from_y = a.sub(y, a.mul(way, a.sub({1, 0}, w)));
        return either(a, from_x, from_y);
      })};
}
const RegisterOperations registered{{"lerp"}, between_two};

}  // namespace
}  // namespace tally::oracle::operations::arithmetic_rules
