// Plans of models over tokens: an embedding, few layers, attention in residual blocks, a loss over the vocabulary.
#include "properties/generators/token_plan.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/device/executor/schedule.hpp"
#include "oracle/case/kinds.hpp"
#include "properties/generators/blocks.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/drawn_options.hpp"

namespace tally {
namespace {

constexpr std::uint64_t apart_of_tokens = 0x3c6ef372u;

template <std::size_t n>
std::int64_t any_of(executor::Schedule& random, const std::array<std::int64_t, n>& sizes) {
  return sizes[random.below(n)];
}

/// Nothing, a linear layer with a function, or both as a residual block behind a norm.
std::vector<Layer> drawn_layers(const TokenPlan& tokens, executor::Schedule& random) {
  const std::uint64_t form = random.below(3);
  if (form == 0) return {};
  std::vector<Layer> layers;
  const std::string read = tokens.positions ? "wpe" : "wte";
  if (form == 2) layers.push_back(layer("layer_norm", "norm1"));
  layers.push_back(layer("linear", "fc1", {{"out", tokens.width}, {"bias", random.below(2) == 0}}));
  layers.push_back(activations()[random.below(activations().size())]);
  if (layers.back().name.empty()) layers.back().name = "act1";
  if (form == 2) layers.push_back(sum_of("sum1", {read, layers.back().name}));
  return layers;
}

}  // namespace

void read_tokens(Plan& plan) {
  executor::Schedule random(plan.seed ^ apart_of_tokens);
  plan.input = any_of<6>(random, {2, 3, 5, 8, 11, 33});
  plan.tokens = {.width = any_of<6>(random, {1, 2, 3, 4, 7, 8}),
                 .longest = any_of<4>(random, {2, 3, 5, 8}),
                 .positions = random.below(2) == 0,
                 .tied = random.below(3) == 0};
  plan.hidden = drawn_layers(plan.tokens, random);
  plan.outputs = plan.input;
  plan.values.clear();
  plan.gradient_magnitude = 1;
  plan.far_mean = false;
  if (plan.loss.kind != kinds::cross_entropy) plan.loss = choice("loss", "cross_entropy");
  plan.loss.options["shift"] = random.below(3) != 0;
  const std::array<const char*, 4> z_losses{"0", "0", "0.25", "0.5"};
  plan.loss.options["z_loss"] = Decimal{z_losses[random.below(z_losses.size())]};
  if (random.below(4) == 0) plan.execution.kernels["embedding.gradient"] = "atomic_add";
  if (random.below(4) == 0) plan.execution.kernels["head_loss"] = "chunked";
  for (auto& window : plan.windows) window.front() = std::max<std::int64_t>(window.front(), 2);
}

void tie_more(Plan& plan) {
  constexpr std::uint64_t apart_of_users = 0x2f6a1d9bu;
  constexpr std::int64_t most_users = 4;
  executor::Schedule random(plan.seed ^ apart_of_users);
  plan.tokens.tied = true;
  const std::int64_t users = drawn_size("users of a table", random, most_users, 2);
  for (std::int64_t user = 3; user <= users; ++user) {
    const std::string number = std::to_string(user);
    plan.hidden.push_back(layer("linear", "use" + number, {{"out", plan.input}, {"bias", random.below(2) == 0}}));
    plan.hidden.back().tied = "wte";
    plan.hidden.push_back(layer("linear", "back" + number, {{"out", plan.tokens.width}, {"bias", false}}));
  }
}

namespace {

constexpr std::int64_t most_keys = 32;
constexpr std::uint64_t apart_of_blocks = 0x510e527fu, of_parts = 0x1f83d9abu, of_drops = 0x5be0cd19u,
                        of_sizes = 0x9b05688cu;

/// Heads of q, heads of k and v, features of each, and how many of these turn.
struct Heads {
  std::int64_t heads, groups, size, rotated = 0;
};

class AttentionBlocks {
 public:
  AttentionBlocks(Plan& plan, QueriesAndKeys made)
      : plan_(plan),
        made_(made),
        random_(plan.seed ^ apart_of_blocks),
        parts_(plan.seed ^ of_parts),
        drops_(plan.seed ^ of_drops),
        sizes_(plan.seed ^ of_sizes),
        last_(plan.tokens.positions ? "wpe" : "wte") {}

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

  /// Made so, or drawn so, one in n.
  bool is(QueriesAndKeys made, std::uint64_t n) {
    const bool drawn = parts_.below(n) == 0;
    return made_ == made || (made_ == QueriesAndKeys::drawn && drawn);
  }

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

  /// Few of all, as they multiply; a head that turns has its pairs, and what stands still.
  Heads drawn_heads(bool turned) {
    constexpr std::int64_t most_heads = 4, most_features = 4, most_pairs = 4;
    const std::int64_t readers = drawn_size("query heads that read one head of k and v", sizes_, most_heads);
    const std::int64_t groups = drawn_size("heads of k and v", sizes_, std::max<std::int64_t>(most_heads / readers, 1));
    Heads h{groups * readers, groups, drawn_size("features of a head", sizes_, most_features)};
    if (!turned) return h;
    h.rotated = 2 * drawn_size("pairs of a head that turn", sizes_, most_pairs);
    const bool all = sizes_.below(2) == 0;
    h.size = h.rotated + (all ? 0 : drawn_size("features of a head that stand still", sizes_, most_features));
    return h;
  }

  void block(const std::string& number) {
    const bool turned = is(QueriesAndKeys::turned, 2);
    const Heads h = drawn_heads(turned);
    const std::string read = normed("norm" + number);
    std::string q = "q" + number, k = "k" + number;
    const std::string v = "v" + number;
    if (is(QueriesAndKeys::fused, 4)) {
      fuse(number, h, read);
    } else {
      linear(q, h.heads * h.size, read);
      linear(k, h.groups * h.size, read);
      linear(v, h.groups * h.size, read);
    }
    if (turned) turn(q, k, h);
    static constexpr std::array scales{"0", "0", "0.5"};
    add(layer("attention", "att" + number,
              {{"heads", h.heads},
               {"kv_heads", h.groups == h.heads && one_in(2) ? std::int64_t{0} : h.groups},
               {"causal", !one_in(4)},
               {"window", window()},
               {"scale", Decimal{scales[random_.below(scales.size())]}},
               {"p", Decimal{dropped()}}}),
        {q, k, v});
    const std::string out = linear("o" + number, plan_.tokens.width, "att" + number);
    sum("sum" + number, out);
  }

  /// None, or so many keys, that the longest sequence is longer.
  std::int64_t window() {
    if (sizes_.below(2) == 0) return 0;
    const std::int64_t keys = drawn_size("keys of a sliding window", sizes_, most_keys);
    plan_.tokens.longest = std::max(plan_.tokens.longest, keys + 1);
    return keys;
  }

  /// What share of the weights is dropped: none, or one in three.
  const char* dropped() {
    static constexpr std::array shares{"0", "0", "0", "0", "0", "0", "0.5", "0.25", "0.1"};
    return shares[drops_.below(shares.size())];
  }

  /// One product, and q, k and v the slices of it.
  void fuse(const std::string& number, const Heads& h, const std::string& read) {
    const std::string all = linear("qkv" + number, (h.heads + 2 * h.groups) * h.size, read);
    std::int64_t begin = 0;
    for (const auto& [word, heads] : {std::pair{"q", h.heads}, {"k", h.groups}, {"v", h.groups}}) {
      add(layer("slice", word + number, {{"begin", begin}, {"end", begin + heads * h.size}}), {all});
      begin += heads * h.size;
    }
  }

  /// Rotary positions of q and k; their names become those of what turned.
  void turn(std::string& q, std::string& k, const Heads& h) {
    static constexpr std::array bases{"10000", "100", "0.5"};
    Options options{{"base", Decimal{bases[parts_.below(bases.size())]}},
                    {"dimensions", h.rotated == h.size && parts_.below(2) == 0 ? std::int64_t{0} : h.rotated},
                    {"pairing", std::string(parts_.below(2) == 0 ? "half" : "interleaved")}};
    for (auto& [name, heads] : {std::pair<std::string&, std::int64_t>{q, h.heads}, {k, h.groups}}) {
      options.insert_or_assign("heads", heads);
      add(layer("rotary", name + "r", options), {name});
      name += "r";
    }
  }

  void network(const std::string& number) {
    const std::string read = normed("norm" + number + "b");
    if (one_in(2)) return sum("sum" + number + "b", gated(number, read));
    linear("fc" + number, plan_.tokens.width, read);
    plan_.hidden.push_back(activations()[random_.below(activations().size())]);
    plan_.hidden.back().name = "act" + number;
    sum("sum" + number + "b", "act" + number);
  }

  /// As SwiGLU has it, or GEGLU.
  std::string gated(const std::string& number, const std::string& read) {
    const std::string gate = linear("gate" + number, 3, read), up = linear("up" + number, 3, read);
    const std::vector<std::string>& words = gate_activations();
    const std::uint64_t turn = plan_.seed % (words.size() + 1);  // the first, SwiGLU, in two of them
    add(layer("gated", "glu" + number, {{"activation", words[turn == 0 ? 0 : turn - 1]}}), {gate, up});
    return linear("down" + number, plan_.tokens.width, "glu" + number);
  }

  void sum(const std::string& name, const std::string& branch) {
    plan_.hidden.push_back(sum_of(name, {last_, branch}));
    last_ = name;
  }

  Plan& plan_;
  QueriesAndKeys made_;
  executor::Schedule random_, parts_, drops_, sizes_;  // parts_: how q, k and v are made
  std::string last_;
};

}  // namespace

void attend(Plan& plan, QueriesAndKeys made) {
  read_tokens(plan);
  if (made == QueriesAndKeys::turned) plan.tokens.positions = false;
  executor::Schedule random(~plan.seed);
  plan.tokens.longest = drawn_size("keys of a sequence", random, most_keys, 2);
  AttentionBlocks(plan, made).draw();
  auto& first = plan.windows.front().front();
  first = std::max(first, plan.tokens.longest);
  static constexpr std::array forwards{"",      "online_blocks",   "online_pairs", "online_cast",
                                       "eager", "online_cast_sum", "online_exp2"};
  static constexpr std::array backwards{"", "recompute_blocks", "recompute_cast", "recompute_atomic"};
  if (const std::string forward = forwards[random.below(forwards.size())]; !forward.empty())
    plan.execution.kernels["attention.forward"] = forward;
  if (const std::string backward = backwards[random.below(backwards.size())]; !backward.empty())
    plan.execution.kernels["attention.backward"] = backward;
  if (random.below(2) == 0)
    for (const std::string& word : gate_activations())
      for (const char* direction : {".forward", ".backward"})
        plan.execution.kernels["gated_" + word + direction] = "two_step";
  if (random.below(2) == 0)
    for (const char* operation : {"rms_norm.forward", "rms_norm.backward", "rms_norm.weight_gradient"})
      plan.execution.kernels[operation] = "cast_first";
  if (random.below(2) == 0)
    plan.execution.kernels["rotary.forward"] = plan.execution.kernels["rotary.backward"] = "stored";
  for (const char* pass : {"add_norm", "add_norm.backward"})
    if (random.below(2) == 0) plan.execution.kernels[pass] = "fused";
}

std::vector<std::size_t> attention_layers(const Model& model) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    if (model.layers[i].kind == kinds::attention) found.push_back(i);
  return found;
}

}  // namespace tally
