#include "oracle/operations/rule.hpp"

#include <algorithm>

namespace tally::oracle::operations {

std::optional<double> Profile::find(std::string_view operation, Element element, std::string_view claim) const {
  for (const std::string& op : {std::string(operation), std::string("*")}) {
    for (const std::string& format : {std::string(name_of(element)), std::string("*")}) {
      const auto found = claims.find(op + "/" + format + "/" + std::string(claim));
      if (found != claims.end()) return found->second;
    }
  }
  return std::nullopt;
}

double Profile::number(std::string_view operation, Element element, std::string_view claim, double otherwise) const {
  return find(operation, element, claim).value_or(otherwise);
}

bool Profile::says(std::string_view operation, Element element, std::string_view claim) const {
  return number(operation, element, claim, 0) != 0;
}

namespace {

const Rule* rule_of(std::string_view name) {
  const OperationRule* found = find_record<OperationRule>(name);
  return found == nullptr ? nullptr : &found->rule;
}

/// The call of one tensor of a list: element `i` of every list of as many.
Call of_one(const Call& call, const std::string& name, std::size_t i, std::size_t count) {
  Call one;
  one.name = name;
  one.full = call.full;
  const auto pick = [&](const Value& value) {
    const Values* list = std::get_if<Values>(&value.is);
    return list != nullptr && list->size() == count ? (*list)[i] : value;
  };
  for (const auto& [key, value] : call.arguments) {
    // _foreach_addcmul(self, tensor1, tensor2, scalars) and their like.
    one.arguments[key == "scalars" || key == "scalar" ? "value" : key] = pick(value);
  }
  if (one.arguments.contains("value") && !one.arguments.contains("other")) {
    one.arguments["other"] = one.arguments["value"];
    one.arguments["exponent"] = one.arguments["value"];
  }
  if (name.starts_with("clamp_")) one.arguments[name == "clamp_min" ? "min" : "max"] = one.arguments["other"];
  if (one.arguments.contains("exponent") && !one.arguments.contains("other"))
    one.arguments["other"] = one.arguments["exponent"];
  if (call.arguments.contains("tensors1")) {  // _foreach_lerp
    one.arguments["end"] = one.arguments["tensors1"];
    one.arguments["weight"] = one.arguments.contains("weights") ? one.arguments["weights"] : one.arguments["weight"];
  }
  for (const auto& [key, value] : call.wrote) one.wrote[key] = pick(value);
  for (const Value& value : call.out) one.out.push_back(pick(value));
  return one;
}

std::vector<Demand> of_each(const Call& call, const Profile& profile, const std::string& name, Rule rule) {
  const std::size_t count = call.tensors("self").size();
  std::vector<Demand> all;
  for (std::size_t i = 0; i < count; ++i) {
    for (Demand& demand : rule(of_one(call, name, i, count), profile)) {
      demand.output += " of tensor " + std::to_string(i);
      all.push_back(std::move(demand));
    }
  }
  return all;
}

}  // namespace

std::vector<Demand> demands_of(const Call& call, const Profile& profile) {
  std::string name = call.name;
  if (const Rule* rule = rule_of(name)) return (*rule)(call, profile);
  constexpr std::string_view foreach = "_foreach_";
  if (name.starts_with(foreach)) {
    name = name.substr(foreach.size());
    if (name == "norm") name = "linalg_vector_norm";
    if (const Rule* rule = rule_of(name)) return of_each(call, profile, name, *rule);
  }
  throw NotJudged("no rule for " + call.full);
}

View output_of(const Call& call) {
  for (const char* name : {"out", "self"})
    if (call.wrote.contains(name)) return call.written(name);
  return call.result();
}

std::string output_name(const Call& call) {
  for (const char* name : {"out", "self"})
    if (call.wrote.contains(name)) return name;
  return "result";
}

const Arithmetic& arithmetic_of(Element element) {
  static const Claims claims;
  static const auto made = [](Element of) {
    const Format format = operations::format_of(of), compute = operations::format_of(Element::float32);
    return Arithmetic({claims, format, compute, compute, compute}, format);
  };
  static const Arithmetic single = made(Element::float32), half = made(Element::float16),
                          brain = made(Element::bfloat16);
  if (element == Element::float16) return half;
  if (element == Element::bfloat16) return brain;
  if (element != Element::float32) operations::format_of(element);  // throws
  return single;
}

Operand operand_of(const Call& call, std::string_view argument) {
  const auto found = call.arguments.find(argument);
  if (found != call.arguments.end() &&
      (std::holds_alternative<View>(found->second.is) || std::holds_alternative<Unrecorded>(found->second.is)))
    return call.tensor(argument);
  return call.number(argument);
}

Operand scalar_of(const Call& call, const Profile& profile, std::string_view argument, double otherwise) {
  Operand number = call.number(argument, otherwise);
  const Element element = output_of(call).element;
  if (is_half(element) && profile.says(call.name, element, "scalar_in_storage"))
    number.number = rounded(operations::format_of(element), number.number);
  return number;
}

namespace {

/// Whether a tensor's elements may be rounded before an operation reads them: to the format of its result.
bool may_be_rounded(const View& view, Element result) {
  if (!is_float(result) || view.element == result || view.element == Element::boolean) return false;
  if (is_float(view.element)) return size_of(view.element) >= size_of(result);
  return is_half(result);
}

bool computes_in_fp32(Element element) { return is_half(element) || element == Element::float32; }

}  // namespace

Reader::Reader(std::vector<Operand> of, const View& found) : operands(std::move(of)), result(found.element) {
  bool any = false, views = false;
  Sizes sizes;
  for (const Operand& operand : operands) {
    if (!operand.view) continue;
    sizes = broadcast(sizes, operand.view->sizes);
    views = true;
  }
  expect_sizes(!views || sizes == found.sizes);
  for (Operand& operand : operands) {
    if (!operand.view && computes_in_fp32(result)) operand.number = static_cast<float>(operand.number);
    if (!operand.view) continue;
    *operand.view = operand.view->expanded(found.sizes);
    any = any || may_be_rounded(*operand.view, result);
  }
  v.resize(operands.size());
  if (any) e.resize(operands.size());
}

void Reader::read(std::int64_t first, std::int64_t count) {
  const auto n = static_cast<std::size_t>(count);
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const Operand& operand = operands[k];
    if (!operand.view) {
      v[k].assign(n, operand.number);
      if (!e.empty()) e[k].assign(n, 0);
      continue;
    }
    v[k].resize(n);
    operand.view->read(first, count, v[k].data());
    const bool whole = !is_float(operand.view->element) && computes_in_fp32(result);
    if (!e.empty()) e[k].assign(n, 0);
    const bool rounds = may_be_rounded(*operand.view, result);
    if (!whole && !rounds) continue;
    const Format to = operations::format_of(rounds ? result : Element::float32);
    for (std::size_t i = 0; i < n; ++i) {
      const double as_is = v[k][i];
      if (whole) v[k][i] = static_cast<float>(as_is);
      if (!rounds) continue;
      e[k][i] = std::fabs(rounded(to, as_is) - v[k][i]);
      if (std::isnan(e[k][i])) e[k][i] = std::isfinite(as_is) ? infinite : 0;
    }
  }
}

double written(Element element, double v) {
  if (element == Element::float64) return v;
  if (element == Element::boolean) return v != 0 ? 1 : 0;
  if (is_float(element)) {
    const double single = static_cast<float>(v);
    return element == Element::float32 ? single : rounded(operations::format_of(element), single);
  }
  const double all = std::ldexp(1.0, 8 * static_cast<int>(size_of(element)));
  const double least = element == Element::uint8 ? 0 : -all / 2;
  return v >= least && v < least + all ? v : v - std::floor((v - least) / all) * all;
}

void expect_sizes(bool they_are_so) {
  if (!they_are_so) throw NotJudged("a result of other sizes than its operation gives");
}

bool Reader::known(std::int64_t i) const {
  for (std::size_t k = 0; k < operands.size(); ++k)
    if (operands[k].view && !is_float(operands[k].view->element) &&
        std::fabs(v[k][static_cast<std::size_t>(i)]) >= 0x1p53)
      return false;
  return true;
}

Demand moved(const std::string& output, const View& found, const View& from) {
  if (from.count() != found.count() || from.element != found.element)
    throw NotJudged("a move between tensors of other sizes or formats");
  return {output,
          found,
          Demand::raw,
          1,
          {},
          [from](std::int64_t first, std::int64_t count, std::uint64_t* out) {
            from.read_bits(first, count, out); }};
}

Demand constant(const std::string& output, const View& found, double value) {
  return {output, found, Demand::bits, 1, [value](Part& part) { std::fill_n(part.v, part.count, value); }, {}};
}

}  // namespace tally::oracle::operations
