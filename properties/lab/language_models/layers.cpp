// Embeddings, gated layers, heads with their loss, and norms, as the study draws them.
#include <cmath>

#include "oracle/case/io.hpp"
#include "properties/generators/blocks.hpp"
#include "properties/generators/choices.hpp"
#include "properties/lab/language_models/family.hpp"

// The gradient of an embedding's table, whose rows are counted apart by how often their token is used: from once to
// some thousand times in a micro-batch, as words of a language are.
namespace tally::embedding_study {
namespace {

struct Size {
  std::int64_t vocabulary, rows, width;
};
constexpr std::array<Size, 4> sizes{{{30, 64, 8}, {3000, 2000, 2}, {300, 1000, 4}, {3, 2000, 2}}};

Case drawn(Dtype storage, std::uint64_t seed, std::uint64_t number) {
  executor::Schedule random = numbers_for(seed, number, "embedding");
  const Size& size = sizes[number % sizes.size()];
  Plan plan = plain_plan(storage, random, size.rows, 100);
  plan.input = size.vocabulary;
  plan.tokens.width = size.width;
  plan.execution.schedule = random.below(2) == 0 ? 0 : static_cast<std::int64_t>(1 + random.below(1000));
  Case c = case_of(plan);
  Tensor& tokens = c.tensors.at("tokens");
  for (std::size_t i = 0; i < tokens.elements(); ++i) {
    const double share = std::ldexp(static_cast<double>(random.next() >> 11), -53);
    tokens.set(i, std::floor(std::pow(static_cast<double>(size.vocabulary + 1), share) - 1));
  }
  tokens.drawing.reset();
  return c;
}

constexpr std::array<std::size_t, 5> most_uses{1, 3, 15, 63, 255};
const std::vector<std::string> use_words{"1 use",         "2 or 3 uses",    "4 to 15 uses",
                                         "16 to 63 uses", "64 to 255 uses", "256 uses and more"};

/// Rows of tokens that are not used are exactly 0, and not counted.
std::vector<std::string> by_uses(const Case& c) {
  std::vector<std::size_t> uses(static_cast<std::size_t>(c.model.input));
  const Tensor& tokens = c.tensors.at("tokens");
  for (std::size_t i = 0; i < tokens.elements(); ++i) ++uses[static_cast<std::size_t>(tokens.integer(i))];
  std::vector<std::string> words;
  for (const std::size_t m : uses) {
    std::size_t word = 0;
    while (word < most_uses.size() && m > most_uses[word]) ++word;
    words.push_back(use_words[word]);
  }
  return words;
}

LayerFamily embedding_layers() {
  return {5,
          "embeddings",
          drawn,
          {{"backward", "d.wte.weight", "embedding dW", "embedding.gradient"}},
          {{{{"embedding.gradient", "sorted"}}}, {{{"embedding.gradient", "atomic_add"}}}},
          by_uses,
          use_words};
}

const Register<LayerFamily> registered(embedding_layers());

}  // namespace
}  // namespace tally::embedding_study

// Gated layers with each activation, of the same gate and the same factor: from the middle of the activation to its
// tails.
namespace tally::gated_study {
namespace {

constexpr std::array activations{"silu", "gelu", "gelu_tanh"};

Case drawn(Dtype storage, std::uint64_t seed, std::uint64_t number) {
  executor::Schedule random = numbers_for(seed, number, "gated");
  constexpr std::array<double, 4> sizes{1, 0x1p-6, 4, 0x1p-2};
  const std::int64_t rows = one_of(random, std::array<std::int64_t, 4>{4, 17, 40, 100});
  const std::int64_t out = one_of(random, std::array<std::int64_t, 4>{16, 33, 64, 100});
  Plan plan = plain_plan(storage, random, rows, 8);
  plan.input = 40;
  plan.hidden = {reading(layer("linear", "gate", {{"out", out}}), {"wte"}),
                 reading(layer("linear", "up", {{"out", out}}), {"wte"})};
  for (const char* activation : activations)
    plan.hidden.push_back(
        reading(layer("gated", activation, {{"activation", std::string(activation)}}), {"gate", "up"}));
  plan.hidden.push_back(sum_of("sum", {activations.begin(), activations.end()}));
  Case c = case_of(plan);
  move_table(c, sizes[number % sizes.size()]);
  return c;
}

LayerFamily gated_layers() {
  LayerFamily family{4, "gated layers", drawn, {}, {{}, {}}};
  OtherClaim fused{"one step", {}};
  for (const std::string activation : activations) {
    const std::string operation = "gated_" + activation, shown = "gated " + activation;
    family.tensors.push_back({"forward", activation + ".y", shown + " y", operation + ".forward"});
    family.tensors.push_back({"backward", "d." + activation + ".gate", shown + " d.gate", operation + ".backward"});
    family.tensors.push_back({"backward", "d." + activation + ".up", shown + " d.up", operation + ".backward"});
    for (const char* direction : {".forward", ".backward"}) {
      family.ways[1].kernels[operation + direction] = "two_step";
      fused.algorithms[operation + direction] = "fused";
    }
  }
  family.ways[1].others = {fused};
  return family;
}

const Register<LayerFamily> registered(gated_layers());

}  // namespace
}  // namespace tally::gated_study

// The head of a language model with its loss: 10 to 4,000 classes, logits from nearly equal to far apart; by a product
// and a softmax, or as one.
namespace tally::heads_study {
namespace {

Case drawn(Dtype storage, std::uint64_t seed, std::uint64_t number) {
  executor::Schedule random = numbers_for(seed, number, "heads");
  constexpr std::array<std::int64_t, 4> classes{100, 1000, 10, 4000};
  constexpr std::array<double, 3> sizes{1, 0x1p-6, 8};
  const std::int64_t rows = one_of(random, std::array<std::int64_t, 3>{4, 9, 24});
  Plan plan = plain_plan(storage, random, rows, 8);
  plan.tokens.width = one_of(random, std::array<std::int64_t, 3>{4, 16, 32});
  plan.outputs = classes[number % classes.size()];
  plan.loss.options["z_loss"] = Decimal{random.below(3) == 0 ? "0.25" : "0"};
  plan.loss.options["label_smoothing"] = Decimal{random.below(3) == 0 ? "0.1" : "0"};
  Case c = case_of(plan);
  move_table(c, sizes[number % sizes.size()]);
  return c;
}

LayerFamily heads_with_losses() {
  const OtherClaim three_pass{"three_pass", {{"cross_entropy", "three_pass"}}, false};
  return {6,
          "heads and losses",
          drawn,
          {{"loss", "loss", "cross_entropy loss", "cross_entropy"},
           {"loss", "d.y", "cross_entropy dz", "cross_entropy"},
           {"loss", "loss", "head and loss as one: loss", "head_loss"},
           {"backward", "d.out.x", "head and loss as one: dx", "head_loss"},
           {"backward", "d.out.weight", "head and loss as one: dW", "head_loss"},
           {"backward", "d.out.bias", "head and loss as one: db", "head_loss"}},
          {{}, {{{"cross_entropy", "online"}}, {three_pass}}, {{{"head_loss", "chunked"}}}}};
}

const Register<LayerFamily> registered(heads_with_losses());

}  // namespace
}  // namespace tally::heads_study

// rms_norm and layer_norm of the same rows: 3 to 777 features; values around 0, around 1, with outliers, around 32.
namespace tally::norms_study {
namespace {

constexpr std::array<std::int64_t, 6> widths{33, 64, 3, 256, 777, 100};

/// Values of the table: a family of drawings, and where they lie.
struct Values {
  const char* family;
  double shift;
};
constexpr std::array<Values, 4> values{{{"normal", 0}, {"normal", 32}, {"outlier", 0}, {"positive", 0}}};

Case drawn(Dtype storage, std::uint64_t seed, std::uint64_t number) {
  executor::Schedule random = numbers_for(seed, number, "norms");
  const std::int64_t rows = one_of(random, std::array<std::int64_t, 4>{4, 17, 40, 100});
  Plan plan = plain_plan(storage, random, rows, 8);
  plan.tokens.width = widths[number % widths.size()];
  plan.input = 40;
  const bool affine = random.below(4) != 0, offset = random.below(2) == 0;
  plan.hidden = {
      reading(layer("rms_norm", "rms", {{"affine", affine}, {"offset", Decimal{affine && offset ? "1" : "0"}}}),
              {"wte"}),
      reading(layer("layer_norm", "ln"), {"wte"}), sum_of("sum", {"rms", "ln"})};
  Case c = case_of(plan);
  const Values& drawn = values[number / widths.size() % 2 * 2 + number % 2];
  Tensor& table = c.tensors.at("wte.weight");
  draw(table, {1, plan.seed, drawn.family});
  move_table(c, 1, drawn.shift);
  return c;
}

Way way(const std::string& layer_norm, const std::string& rms_norm, std::vector<OtherClaim> others) {
  Way made{{{"layer_norm.forward", layer_norm}}, std::move(others)};
  if (rms_norm.empty()) return made;
  for (const char* operation : {"rms_norm.forward", "rms_norm.backward", "rms_norm.weight_gradient"})
    made.kernels[operation] = rms_norm;
  return made;
}

LayerFamily norm_layers() {
  const OtherClaim cast_last{"cast behind the weight",
                             {{"rms_norm.forward", "cast_last"},
                              {"rms_norm.backward", "cast_last"},
                              {"rms_norm.weight_gradient", "cast_last"}}};
  const OtherClaim two_pass{"two_pass", {{"layer_norm.forward", "two_pass"}}, false};
  return {
      2,
      "norms",
      drawn,
      {{"forward", "rms.rstd", "rms_norm rstd", "rms_norm.forward"},
       {"forward", "rms.y", "rms_norm y", "rms_norm.forward"},
       {"backward", "d.rms.x", "rms_norm dx", "rms_norm.backward"},
       {"backward", "d.rms.weight", "rms_norm dw", "rms_norm.weight_gradient"},
       {"forward", "ln.mean", "layer_norm mean", "layer_norm.forward"},
       {"forward", "ln.rstd", "layer_norm rstd", "layer_norm.forward"},
       {"forward", "ln.y", "layer_norm y", "layer_norm.forward"},
       {"backward", "d.ln.x", "layer_norm dx", "layer_norm.backward"},
       {"backward", "d.ln.weight", "layer_norm dw", "layer_norm.parameter_gradients"},
       {"backward", "d.ln.bias", "layer_norm db", "layer_norm.parameter_gradients"}},
      {way("two_pass", "", {}), way("one_pass", "cast_first", {cast_last, two_pass}), way("welford", "", {two_pass})}};
}

const Register<LayerFamily> registered(norm_layers());

}  // namespace
}  // namespace tally::norms_study
