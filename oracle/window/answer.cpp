#include "oracle/window/answer.hpp"

#include <nlohmann/json.hpp>

#include "oracle/real/digits_scope.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/window/certificate.hpp"
#include "oracle/window/trajectory.hpp"

namespace tally::oracle {
namespace {

using Json = nlohmann::ordered_json;
using Answers = std::vector<WindowAnswer<Real>>;

/// One evaluation of the case, wholly at one precision.
struct Evaluation {
  Answers full_batch, accumulated;

  Evaluation(const Case& c, unsigned digits) {
    set_digits(digits);
    full_batch = trajectory<Real>(c, Branch::full_batch);
    accumulated = trajectory<Real>(c, Branch::accumulated);
  }
};

Real largest_of(const Tensors<Real>& group) {
  Real largest = 0;
  for (const auto& [name, tensor] : group)
    for (Eigen::Index i = 0; i < tensor.size(); ++i)
      if (const Real size = magnitude(tensor(i)); is_finite(size) && size > largest) largest = size;
  return largest;
}

/// Writes one group; `suffix` makes the name of the case's tensor that has the same shape.
Json written(const Case& c, const Certificate& certificate, const Tensors<Real>& coarse, const Tensors<Real>& fine,
             const std::string& suffix, const std::string& place) {
  const Real largest = largest_of(fine);
  Json all = Json::object();
  for (const auto& [name, tensor] : fine) {
    Json data = Json::array();
    for (Eigen::Index i = 0; i < tensor.size(); ++i)
      data.push_back(
          certificate.text(coarse.at(name)(i), tensor(i), largest, place + "." + name + "[" + std::to_string(i) + "]"));
    all[name] = {{"shape", c.tensors.at(name + suffix).shape}, {"data", std::move(data)}};
  }
  return all;
}

/// One member of every slot that has it.
Tensors<Real> members(const State<Real>& state, Matrix<Real> Slot<Real>::*member) {
  Tensors<Real> group;
  for (const auto& [name, slot] : state.slots)
    if ((slot.*member).size() != 0) group.emplace(name, slot.*member);
  return group;
}

Json written(const Case& c, const Certificate& certificate, const WindowAnswer<Real>& coarse,
             const WindowAnswer<Real>& fine, const std::string& place) {
  const auto scalar = [&](const char* name, const Real WindowAnswer<Real>::*member) {
    return certificate.text(coarse.*member, fine.*member, fine.*member, place + "." + name);
  };
  const auto slots = [&](const char* name, Matrix<Real> Slot<Real>::*member) {
    return written(c, certificate, members(coarse.after, member), members(fine.after, member), "", place + "." + name);
  };
  Json json;
  json["loss"] = scalar("loss", &WindowAnswer<Real>::loss);
  json["skipped"] = fine.skipped;
  json["loss_scale"] = scalar("loss_scale", &WindowAnswer<Real>::loss_scale);
  json["learning_rate"] = scalar("learning_rate", &WindowAnswer<Real>::learning_rate);
  json["grad_norm"] = scalar("grad_norm", &WindowAnswer<Real>::grad_norm);
  json["clip_coefficient"] = scalar("clip_coefficient", &WindowAnswer<Real>::clip_coefficient);
  json["grad"] = written(c, certificate, coarse.grad, fine.grad, "", place + ".grad");
  json["param"] = slots("param", &Slot<Real>::parameter);
  json["momentum"] = slots("momentum", &Slot<Real>::momentum);
  json["exp_avg"] = slots("exp_avg", &Slot<Real>::exp_avg);
  json["exp_avg_sq"] = slots("exp_avg_sq", &Slot<Real>::exp_avg_sq);
  json["running_mean"] = written(c, certificate, coarse.after.running_mean, fine.after.running_mean, ".running_mean",
                                 place + ".running_mean");
  json["running_var"] =
      written(c, certificate, coarse.after.running_var, fine.after.running_var, ".running_var", place + ".running_var");
  return json;
}

Json written(const Case& c, const Certificate& certificate, const Answers& coarse, const Answers& fine,
             const std::string& branch) {
  Json windows = Json::array();
  for (std::size_t w = 0; w < fine.size(); ++w)
    windows.push_back(written(c, certificate, coarse[w], fine[w], branch + "[" + std::to_string(w) + "]"));
  return windows;
}

std::string written(const Case& c, unsigned digits, const Evaluation& coarse, const Evaluation& fine) {
  const Certificate certificate(digits);
  Json json;
  json["full_batch"] = written(c, certificate, coarse.full_batch, fine.full_batch, "full_batch");
  json["accumulated"] = written(c, certificate, coarse.accumulated, fine.accumulated, "accumulated");
  return json.dump() + "\n";
}

}  // namespace

std::string answer(const Case& c, unsigned digits) {
  if (digits < 1 || digits > 1000)
    throw std::invalid_argument("digits: " + std::to_string(digits) + "; expected 1 to 1000");
  const std::vector<unsigned> all = precisions(digits);
  const DigitsScope scope(all[0]);
  Evaluation coarse(c, all[0]);
  for (std::size_t i = 1;; ++i) {
    Evaluation fine(c, all[i]);
    try {
      return written(c, digits, coarse, fine);
    } catch (const NotCertified&) {
      if (i + 1 == all.size()) throw;
    }
    coarse = std::move(fine);
  }
}

}  // namespace tally::oracle
