// What a subject declares about how it computes, as data and as JSON.
#include "oracle/layers/claim.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <stdexcept>
#include <string_view>

#include "oracle/case/file/json.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally {
namespace {

using Document = nlohmann::json;

std::string_view name_of(Repeats repeats) { return repeats == Repeats::bitwise ? "bitwise" : "within_claim"; }

[[noreturn]] void reject(const std::string& key, const std::string& found, const std::string& expected) {
  throw std::runtime_error("claims: " + named(key) + " is " + named(found) + "; expected " + expected);
}

/// The value at `key` of an object, of type T; `kind` is the type's name for people.
template <class T>
T take(const Document& object, const std::string& path, const char* key, const char* kind) {
  const auto place = object.find(key);
  const std::string at = path + key;
  if (place == object.end()) reject(at, "missing", kind);
  const bool fits = std::is_same_v<T, bool>          ? place->is_boolean()
                    : std::is_same_v<T, std::string> ? place->is_string()
                                                     : place->is_number_integer();
  if (!fits) reject(at, place->dump(), kind);
  return place->get<T>();
}

using Words = std::span<const std::string_view>;

bool holds(Words words, std::string_view word) { return std::ranges::find(words, word) != words.end(); }

void allow_only(const Document& object, const std::string& path, Words keys) {
  if (!object.is_object()) reject(path.empty() ? "the document" : path, object.dump(), "an object");
  for (const auto& [key, value] : object.items()) {
    if (!holds(keys, key)) reject(path + key, "unknown", "a key of a claim");
  }
}

/// A step without a number is its name.
Document json_of(const OrderOfSum& order) {
  Document steps = Document::array();
  for (const SumStep& step : order) {
    const std::string name = name_of(step.kind);
    steps.push_back(takes_a_number(step.kind) ? Document{{name, step.number}} : Document(name));
  }
  return steps;
}

Document json_of(const KernelClaim& claim) {
  Document json{{"variant", claim.variant},
                {"repeats", name_of(claim.repeats)},
                {"height", claim.height},
                {"algorithm", claim.algorithm},
                {"global_float_atomics", claim.global_float_atomics},
                {"result", tally::name_of(claim.result)},
                {"rsqrt", claim.rsqrt},
                {"splits", claim.splits},
                {"reduction", tally::name_of(claim.reduction)}};
  if (!claim.additions.empty()) json["additions"] = json_of(claim.additions);
  if (claim.function_ulp != 0) json["function_ulp"] = claim.function_ulp;
  if (claim.as_written) json["as_written"] = true;
  return json;
}

SumStep step_of(const Document& step, const std::string& at) {
  constexpr std::array kinds{SumStep::in_order_below, SumStep::runs,   SumStep::lanes,
                             SumStep::tree,           SumStep::chunks, SumStep::meet};
  const bool numbered = step.is_object() && step.size() == 1 && step.begin()->is_number_integer();
  const std::string name = numbered ? step.begin().key() : step.is_string() ? step.get<std::string>() : "";
  for (const SumStep::Kind kind : kinds) {
    if (name_of(kind) != name || takes_a_number(kind) != numbered) continue;
    return {kind, numbered ? step.begin()->get<std::int64_t>() : 0};
  }
  reject(at, step.dump(), R"({"in_order_below" | "runs" | "lanes" | "chunks": a number} | "tree" | "meet")");
}

OrderOfSum order_of(const Document& steps, const std::string& at) {
  constexpr std::size_t most_steps = 64;
  if (!steps.is_array()) reject(at, steps.dump(), "a list of steps");
  if (steps.size() > most_steps) reject(at, std::to_string(steps.size()) + " steps", "at most 64");
  OrderOfSum order;
  for (const Document& step : steps) order.push_back(step_of(step, at));
  const std::string wrong = wrong_with(order);
  if (!wrong.empty()) reject(at, wrong, "an order of additions");
  return order;
}

/// A function that is further off has less than half of fp32's digits right: a claim of that claims nothing.
constexpr double most_ulps = 4096;

double ulps_of(const Document& value, const std::string& at) {
  const double ulps = value.is_number() ? value.get<double>() : 0;
  if (!(ulps >= 0.5 && ulps <= most_ulps)) reject(at, value.dump(), "a number from 0.5 to 4096");
  return ulps;
}

std::string one_of(const Document& object, const std::string& path, const char* key, Words words) {
  const auto word = take<std::string>(object, path, key, "a word");
  if (!holds(words, word)) {
    std::string allowed;
    for (const std::string& each : std::set<std::string>(words.begin(), words.end()))
      allowed += (allowed.empty() ? "" : " | ") + (each.empty() ? "\"\"" : each);
    reject(path + key, '"' + word + '"', allowed);
  }
  return word;
}

Dtype format_at(const Document& object, const std::string& path, const char* key) {
  const std::vector<std::string> names = names_of(storage_formats());
  const std::vector<std::string_view> words(names.begin(), names.end());
  return *dtype_of(one_of(object, path, key, words));
}

constexpr std::array<std::string_view, 6> tensor_core_generations{"v100", "a100", "h100", "h200", "b200", "unknown"};
constexpr std::array<std::string_view, 3> tf32_roundings{"truncate", "nearest", "unknown"};
constexpr std::array<std::string_view, 2> repetitions{"bitwise", "within_claim"};
constexpr std::array<std::string_view, 2> constants{"binary64", "fp32"};
constexpr std::array<std::string_view, 2> divisions{"micro_batch", "window"};
constexpr std::array<std::string_view, 3> factors{"binary64", "fp32", "fp32_twice"};
constexpr std::array<std::string_view, 12> keys_of_kernel{
    "variant", "repeats", "height",    "algorithm", "global_float_atomics", "result",
    "rsqrt",   "splits",  "reduction", "additions", "function_ulp",         "as_written"};
constexpr std::array<std::string_view, 9> keys_of_claims{
    "subject",      "kernels",     "constants",     "divide", "flushes_subnormals",
    "tensor_cores", "tensor_core", "tf32_rounding", "factor"};

/// The words that `algorithm` may hold; empty: any text, as the operation has one algorithm.
Words algorithms_of(std::string_view operation) {
  static constexpr std::array<std::string_view, 5> statistics{"", "any", "two_pass", "one_pass", "welford"};
  static constexpr std::array<std::string_view, 6> softmax{"", "any", "three_pass", "online", "lse", "online_lse"};
  static constexpr std::array<std::string_view, 5> sums{"", "any", "plain", "native", "kahan"};
  static constexpr std::array<std::string_view, 8> over_ranks{
      "", "any", "in_order", "recursive_doubling", "recursive_halving", "ring", "tree", "all_to_all"};
  static constexpr std::array<std::string_view, 3> gradients{"", "separate", "into_buffer"};
  static constexpr std::array<std::string_view, 2> moments{"", "interpolated"};
  static constexpr std::array<std::string_view, 8> attention{
      "", "any", "naive", "online", "online_cast", "online_cast_sum", "online_exp2", "eager"};
  if (operation == "batch_norm.statistics" || operation == "layer_norm.forward") return statistics;
  if (operation == "cross_entropy" || operation == "head_loss") return softmax;
  if (operation == "accumulate") return sums;
  if (operation == "reduce") return over_ranks;
  if (operation == "linear.weight_gradient") return gradients;
  if (operation == "adam") return moments;
  if (operation == "attention.forward") return attention;
  return {};
}

/// Fields that came later: a trace without them means their defaults.
void take_later_fields(const Document& object, const std::string& path, KernelClaim& claim) {
  if (object.contains("rsqrt")) claim.rsqrt = take<bool>(object, path, "rsqrt", "true or false");
  if (object.contains("splits")) claim.splits = take<std::int64_t>(object, path, "splits", "an integer");
  if (claim.splits < 0) reject(path + "splits", std::to_string(claim.splits), "0 or more");
  if (object.contains("reduction")) claim.reduction = format_at(object, path, "reduction");
  if (object.contains("additions")) claim.additions = order_of(object["additions"], path + "additions");
  if (object.contains("function_ulp")) claim.function_ulp = ulps_of(object["function_ulp"], path + "function_ulp");
  if (object.contains("as_written")) claim.as_written = take<bool>(object, path, "as_written", "true or false");
}

KernelClaim kernel_of(const Document& object, const std::string& operation) {
  const std::string path = "kernels." + operation + ".";
  allow_only(object, path, keys_of_kernel);
  KernelClaim claim;
  claim.variant = take<std::string>(object, path, "variant", "text");
  claim.repeats = one_of(object, path, "repeats", repetitions) == "bitwise" ? Repeats::bitwise : Repeats::within_claim;
  claim.height = take<std::int64_t>(object, path, "height", "an integer");
  if (claim.height < 0) reject(path + "height", std::to_string(claim.height), "0 or more");
  const auto algorithms = algorithms_of(operation);
  claim.algorithm = algorithms.empty() ? take<std::string>(object, path, "algorithm", "text")
                                       : one_of(object, path, "algorithm", algorithms);
  claim.global_float_atomics = take<bool>(object, path, "global_float_atomics", "true or false");
  claim.result = format_at(object, path, "result");
  take_later_fields(object, path, claim);
  return claim;
}

}  // namespace

std::string to_json(const Claims& claims) {
  Document kernels = Document::object();
  for (const auto& [operation, claim] : claims.kernels) kernels[operation] = json_of(claim);
  Document document{{"subject", claims.subject},
                    {"kernels", kernels},
                    {"constants", claims.constants},
                    {"divide", claims.divide},
                    {"flushes_subnormals", claims.flushes_subnormals},
                    {"tensor_cores", claims.tensor_cores},
                    {"tensor_core", claims.tensor_core},
                    {"tf32_rounding", claims.tf32_rounding}};
  if (claims.factor != Claims{}.factor) document["factor"] = claims.factor;  // came later: left out at its default
  return document.dump();
}

Claims claims_of_json(const std::string& json) {
  if (const std::string wrong = wrong_with_json(json); !wrong.empty()) reject("the document", wrong, "an object");
  const Document document = Document::parse(json, nullptr, false);
  if (document.is_discarded()) reject("the document", "no JSON", "an object");
  allow_only(document, "", keys_of_claims);
  Claims claims;
  claims.subject = take<std::string>(document, "", "subject", "text");
  claims.constants = one_of(document, "", "constants", constants);
  claims.divide = one_of(document, "", "divide", divisions);
  claims.flushes_subnormals = take<bool>(document, "", "flushes_subnormals", "true or false");
  claims.tensor_cores = take<bool>(document, "", "tensor_cores", "true or false");
  if (document.contains("tensor_core")) {
    claims.tensor_core = one_of(document, "", "tensor_core", tensor_core_generations);
  }
  if (document.contains("tf32_rounding")) {
    claims.tf32_rounding = one_of(document, "", "tf32_rounding", tf32_roundings);
  }
  if (document.contains("factor")) {
    claims.factor = one_of(document, "", "factor", factors);
  }
  if (!document.contains("kernels") || !document["kernels"].is_object()) reject("kernels", "missing", "an object");
  for (const auto& [operation, claim] : document["kernels"].items()) {
    claims.kernels[operation] = kernel_of(claim, operation);
  }
  return claims;
}

}  // namespace tally
