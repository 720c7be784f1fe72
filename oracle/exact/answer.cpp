// The certified decimal answer to a case.
#include "oracle/exact/answer.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "oracle/case/contract.hpp"
#include "oracle/case/kept_tensors.hpp"
#include "oracle/exact/trajectory.hpp"
#include "oracle/fixed_point/product.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/real/real.hpp"

namespace tally::oracle {
namespace {

constexpr unsigned guard_digits = 20;
constexpr int doublings = 7;
/// So far below its group, a number is written 0 even where its own digits are out of reach: what e^(-10^38) leaves.
constexpr unsigned out_of_reach = 1000;

}  // namespace

std::vector<unsigned> precisions(unsigned digits) {
  std::vector<unsigned> all{static_cast<unsigned>(std::ceil((digits + guard_digits) * std::log2(10)))};
  for (int i = 0; i < doublings; ++i) all.push_back(2 * all.back());
  return all;
}

void evaluate_until_decided(const std::vector<unsigned>& bits, const std::function<void()>& evaluate) {
  for (const unsigned now : bits) {
    const BitsScope scope(now);
    try {
      return evaluate();
    } catch (const Undecided& open) {
      if (now == bits.back()) throw NotCertified(open.what() + (" (with " + std::to_string(now) + " bits)"));
    }
  }
}

void evaluate_until_decided(const std::function<void()>& in_short_balls, const std::vector<unsigned>& bits,
                            const std::function<void()>& evaluate) {
  try {
    return in_short_balls();
  } catch (const Undecided&) {
    evaluate_until_decided(bits, evaluate);
  }
}

std::optional<std::string> Certificate::digits_of(const Ball& x) const {
  return certain_ == Certain::rounded ? rounded_text(x, digits_) : decimal_text(x, digits_);
}

std::string Certificate::text(const Ball& x, const Ball& largest, const std::string& place) const {
  if (const auto digits = digits_of(x)) return *digits;
  if (certain_ == Certain::rounded)
    throw Undecided(place + ": " + shown(x) + " rounded to " + std::to_string(digits_) + " digits");
  if ((may_be_zero(x) && negligible(x, largest, digits_)) || negligible(x, largest, digits_ + out_of_reach)) return "0";
  throw Undecided(place + ": " + shown(x) + " to " + std::to_string(digits_) + " digits");
}

namespace {

using Json = nlohmann::ordered_json;
using Answers = std::vector<WindowAnswer<Ball>>;

Ball largest_in(const Tensors<Ball>& group) {
  Ball largest = 0;
  for (const auto& [name, tensor] : group)
    for (Eigen::Index i = 0; i < tensor.size(); ++i)
      if (is_finite(tensor(i))) largest = larger_for_certain(largest, tensor(i));
  return largest;
}

using Shape = std::vector<std::int64_t>;
using ShapeOf = std::function<Shape(const std::string& name, const Matrix<Ball>& value)>;

/// The shape of the case's tensor; where every rank keeps its own, of all of them.
Shape shape_of(const Case& c, const std::string& tensor, const Matrix<Ball>& value) {
  Shape shape = c.tensors.at(tensor).shape;
  if (shape.size() == 1 && value.rows() > 1) shape.insert(shape.begin(), value.rows());
  return shape;
}

/// Writes one group.
Json written(const Certificate& certificate, const Tensors<Ball>& group, const ShapeOf& shape,
             const std::string& place) {
  std::optional<Ball> largest;  // asked for by few
  const auto open = [&](const std::string& name, const Matrix<Ball>& tensor, Eigen::Index i) {
    if (!largest) largest = largest_in(group);
    return certificate.text(tensor(i), *largest, place + "." + name + "[" + std::to_string(i) + "]");
  };
  Json all = Json::object();
  for (const auto& [name, tensor] : group) {
    Json data = Json::array();
    for (Eigen::Index i = 0; i < tensor.size(); ++i) {
      std::optional<std::string> digits = certificate.digits_of(tensor(i));
      data.push_back(digits ? *std::move(digits) : open(name, tensor, i));
    }
    all[name] = {{"shape", shape(name, tensor)}, {"data", std::move(data)}};
  }
  return all;
}

Tensors<Ball> parameters_in(const State<Ball>& state) {
  Tensors<Ball> group;
  for (const auto& [name, slot] : state.slots) group.emplace(name, slot.parameter);
  return group;
}

/// The optimizer's tensors of this name, where it keeps them, and their shapes.
std::pair<Tensors<Ball>, Shapes> state_in(const Case& c, const State<Ball>& state, const std::string& of) {
  std::pair<Tensors<Ball>, Shapes> group;
  for (const auto& [name, slot] : state.slots)
    for (const KeptTensor& kept : kept_beside(c, name)) {
      if (kept.of->name != of || slot.state.at(kept.index).size() == 0) continue;
      group.first.emplace(name, slot.state[kept.index]);
      group.second.emplace(name, kept.shape);
    }
  return group;
}

Json written(const Case& c, const Certificate& certificate, const WindowAnswer<Ball>& answer,
             const std::string& place) {
  const auto scalar = [&](const char* name, const Ball& value) {
    return certificate.text(value, value, place + "." + name);
  };
  const auto like_case = [&](const char* group_name, const Tensors<Ball>& group, const std::string& suffix = "") {
    const auto shape = [&](const std::string& name, const Matrix<Ball>& value) {
      return shape_of(c, name + suffix, value);
    };
    return written(certificate, group, shape, place + "." + group_name);
  };
  const auto state = [&](const std::string& group_name) {
    const auto [group, shapes] = state_in(c, answer.after, group_name);
    const auto shape = [&all = shapes](const std::string& name, const Matrix<Ball>&) { return all.at(name); };
    return written(certificate, group, shape, place + "." + group_name);
  };
  Json json;
  json["loss"] = scalar("loss", answer.loss);
  json["skipped"] = answer.skipped;
  json["loss_scale"] = scalar("loss_scale", answer.loss_scale);
  json["learning_rate"] = scalar("learning_rate", answer.learning_rate);
  json["grad_norm"] = scalar("grad_norm", answer.grad_norm);
  json["clip_coefficient"] = scalar("clip_coefficient", answer.clip_coefficient);
  json["grad"] = like_case("grad", answer.grad);
  json["param"] = like_case("param", parameters_in(answer.after));
  for (const std::string& name : state_names()) json[name] = state(name);
  json["running_mean"] = like_case("running_mean", answer.after.running_mean, ".running_mean");
  json["running_var"] = like_case("running_var", answer.after.running_var, ".running_var");
  return json;
}

/// Both branches of `evaluated`, trajectory<Ball> or short_trajectory.
Json written(const Case& c, const Certificate& certificate, Answers (*evaluated)(const Case&, Branch)) {
  Json json;
  for (const Branch branch : {Branch::full_batch, Branch::accumulated}) {
    const Answers answers = evaluated(c, branch);
    Json& windows = json[name_of(branch)] = Json::array();
    for (std::size_t w = 0; w < answers.size(); ++w)
      windows.push_back(written(c, certificate, answers[w], name_of(branch) + "[" + std::to_string(w) + "]"));
  }
  return json;
}

/// As many digits as 128 bits can tell of a number that has all of them.
constexpr unsigned most_short_digits = 38;

Json written_from_short_balls(const Case& c, unsigned digits) {
  if (digits > most_short_digits) throw Undecided("more digits than balls of fixed size tell");
  const fixed::ProductsScope all_cores(fixed::fastest_route(),
                                       {.threads = static_cast<int>(std::thread::hardware_concurrency())});
  return written(c, Certificate(digits, Certain::rounded), short_trajectory);
}

}  // namespace

std::string answer(const Case& c, unsigned digits) {
  if (digits < 1 || digits > 1000)
    throw std::invalid_argument("digits: " + std::to_string(digits) + "; expected 1 to 1000");
  Json json;
  evaluate_until_decided([&] { json = written_from_short_balls(c, digits); }, precisions(digits),
                         [&] { json = written(c, Certificate(digits), trajectory<Ball>); });
  return json.dump() + "\n";
}

}  // namespace tally::oracle
