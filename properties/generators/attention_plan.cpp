#include "properties/generators/attention_plan.hpp"

#include <algorithm>
#include <array>

#include "kernels/device/executor/schedule.hpp"
#include "properties/generators/activations.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/residual_blocks.hpp"
#include "properties/generators/token_plan.hpp"

namespace tally {
namespace {

constexpr std::uint64_t apart = 0x510e527fu;

/// Heads of q, heads of k and v, features of each.
struct Heads {
  std::int64_t heads, groups, size;
};
constexpr std::array<Heads, 9> all_heads{
    {{1, 1, 1}, {1, 1, 2}, {2, 2, 1}, {2, 1, 2}, {2, 2, 2}, {4, 2, 1}, {4, 2, 2}, {4, 1, 2}, {3, 3, 4}}};

class Blocks {
 public:
  explicit Blocks(Plan& plan) : plan_(plan), random_(plan.seed ^ apart), last_(plan.tokens.positions ? "wpe" : "wte") {}

  void draw() {
    plan_.hidden.clear();
    const bool two = random_.below(4) == 0;
    for (int number = 1; number <= (two ? 2 : 1); ++number) {
      block(std::to_string(number));
      if (random_.below(3) == 0) network(std::to_string(number));
    }
  }

 private:
  bool one_in(std::uint64_t n) { return random_.below(n) == 0; }

  Layer& add(Layer next, std::vector<std::string> inputs = {}) {
    next.inputs = std::move(inputs);
    plan_.hidden.push_back(std::move(next));
    return plan_.hidden.back();
  }

  /// A norm of what was last left, or nothing; the name of what is read.
  std::string normed(const std::string& name) {
    static constexpr std::array norms{"", "layer_norm", "rms_norm"};
    const std::string kind = norms[random_.below(norms.size())];
    if (kind.empty()) return last_;
    add(layer(kind, name), {last_});
    return name;
  }

  std::string linear(const std::string& name, std::int64_t out, const std::string& read) {
    add(layer("linear", name, {{"out", out}, {"bias", one_in(3)}}), {read});
    return name;
  }

  void block(const std::string& number) {
    const Heads& h = all_heads[random_.below(all_heads.size())];
    const std::string read = normed("norm" + number);
    const std::string q = linear("q" + number, h.heads * h.size, read),
                      k = linear("k" + number, h.groups * h.size, read),
                      v = linear("v" + number, h.groups * h.size, read);
    static constexpr std::array<std::int64_t, 6> windows{0, 0, 0, 1, 2, 3};
    static constexpr std::array scales{"0", "0", "0.5"};
    add(layer("attention", "att" + number,
              {{"heads", h.heads},
               {"kv_heads", h.groups == h.heads && one_in(2) ? std::int64_t{0} : h.groups},
               {"causal", !one_in(4)},
               {"window", windows[random_.below(windows.size())]},
               {"scale", Decimal{scales[random_.below(scales.size())]}}}),
        {q, k, v});
    const std::string out = linear("o" + number, plan_.tokens.width, "att" + number);
    sum("sum" + number, out);
  }

  void network(const std::string& number) {
    const std::string read = normed("norm" + number + "b");
    if (one_in(2)) return sum("sum" + number + "b", gated(number, read));
    linear("fc" + number, plan_.tokens.width, read);
    plan_.hidden.push_back(activations()[random_.below(activations().size())]);
    plan_.hidden.back().name = "act" + number;
    sum("sum" + number + "b", "act" + number);
  }

  /// As SwiGLU has it.
  std::string gated(const std::string& number, const std::string& read) {
    const std::string gate = linear("gate" + number, 3, read), up = linear("up" + number, 3, read);
    add(layer("gated", "glu" + number), {gate, up});
    return linear("down" + number, plan_.tokens.width, "glu" + number);
  }

  void sum(const std::string& name, const std::string& branch) {
    plan_.hidden.push_back(sum_of(name, {last_, branch}));
    last_ = name;
  }

  Plan& plan_;
  executor::Schedule random_;
  std::string last_;
};

}  // namespace

void attend(Plan& plan) {
  read_tokens(plan);
  Blocks(plan).draw();
  executor::Schedule random(~plan.seed);
  // Blocks of 2 and of 16 keys: one less, as many, one more.
  static constexpr std::array<std::int64_t, 6> longest{2, 3, 5, 15, 16, 17};
  plan.tokens.longest = longest[random.below(longest.size())];
  auto& first = plan.windows.front().front();
  first = std::max(first, plan.tokens.longest);
  static constexpr std::array forwards{"", "online_blocks", "online_pairs"};
  if (const std::string forward = forwards[random.below(forwards.size())]; !forward.empty())
    plan.execution.kernels["attention.forward"] = forward;
  if (random.below(2) == 0) plan.execution.kernels["attention.backward"] = "recompute_blocks";
  if (random.below(2) == 0)
    plan.execution.kernels["gated_silu.forward"] = plan.execution.kernels["gated_silu.backward"] = "two_step";
}

std::vector<std::size_t> attention_layers(const Model& model) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    if (model.layers[i].kind == "attention") found.push_back(i);
  return found;
}

}  // namespace tally
