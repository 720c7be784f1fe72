// How small an error of one stage is still found at that stage's own tap.
#include "properties/lab/stage_sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "properties/generators/choices.hpp"
#include "properties/generators/plan.hpp"
#include "properties/judge/lens.hpp"
#include "properties/lab/study.hpp"

namespace tally {
namespace {

/// 2^-24 changes a float by its last place, or by half of it and a tie; 2^-2 is a quarter too much.
constexpr int finest = 24, coarsest = 2;

constexpr std::int64_t widths[] = {32, 256, 1024};

/// What is planted and held: a tap of every micro-batch that has it. One the lens reads to judge another (a moment, of
/// the parameter after it) is planted apart from that.
struct Row {
  std::string stage, tensor, shown;
  bool apart = false;
};

/// A network, its recipe and the rows of the table that it fills.
struct Net {
  std::vector<Row> rows;
  Plan (*plan)(std::int64_t width, std::uint64_t seed);
};

Plan base_plan(std::int64_t width, std::uint64_t seed) {
  Plan plan;
  plan.input = width;
  plan.outputs = 10;
  const std::int64_t rows = std::min<std::int64_t>(width, 64);
  plan.windows = {{rows, rows}};
  plan.seed = seed;
  return plan;
}

Recipe recipe_of(Choice optimizer, Choice decay) {
  return {std::move(optimizer), choice("learning_rate", "constant", {{"base", decimal(0.125)}}), std::move(decay),
          choice("clip", "global_norm", {{"max_norm", Decimal{"0.5"}}}),
          choice("loss_scale", "static", {{"scale", Decimal{"3"}}})};
}

/// Norms, gelu, mean squared error, Adam.
Plan with_norms(std::int64_t width, std::uint64_t seed) {
  Plan plan = base_plan(width, seed);
  plan.hidden = {layer("linear", "linear", {{"out", width}}),
                 layer("batch_norm", "bn", {{"statistics", std::string("micro_batch")}}), layer("relu", "relu"),
                 layer("layer_norm", "ln"), layer("gelu", "gelu")};
  plan.outputs = 64;
  plan.loss = choice("loss", "mse");
  plan.recipe = recipe_of(choice("optimizer", "adam"), choice("weight_decay", "l2", {{"lambda", Decimal{"0.01"}}}));
  return plan;
}

/// Saturating activations, cross-entropy, SGD.
Plan with_activations(std::int64_t width, std::uint64_t seed) {
  Plan plan = base_plan(width, seed);
  plan.hidden = {layer("linear", "linear", {{"out", std::int64_t{64}}}), layer("tanh", "tanh"),
                 layer("sigmoid", "sigmoid")};
  plan.outputs = width;
  plan.loss = choice("loss", "cross_entropy");
  plan.recipe = recipe_of(choice("optimizer", "sgd", {{"momentum", Decimal{"0.9"}}}),
                          choice("weight_decay", "decoupled", {{"lambda", Decimal{"0.01"}}}));
  return plan;
}

const std::vector<Net>& nets() {
  static const std::vector<Net> all = {{{{"forward", "linear.y", "linear: y"},
                                         {"forward", "bn.mean", "batch_norm: mean"},
                                         {"forward", "bn.var", "batch_norm: var"},
                                         {"forward", "bn.rstd", "batch_norm: rstd"},
                                         {"forward", "bn.y", "batch_norm: y"},
                                         {"forward", "relu.y", "relu: y"},
                                         {"forward", "ln.mean", "layer_norm: mean"},
                                         {"forward", "ln.rstd", "layer_norm: rstd"},
                                         {"forward", "ln.y", "layer_norm: y"},
                                         {"forward", "gelu.y", "gelu: y"},
                                         {"running_stats", "bn.running_mean", "running mean"},
                                         {"running_stats", "bn.running_var", "running variance"},
                                         {"loss", "loss", "mse: loss of a row"},
                                         {"loss", "d.y", "mse: d.y"},
                                         {"backward", "d.out.weight", "linear: dW"},
                                         {"backward", "d.out.bias", "linear: db"},
                                         {"backward", "d.out.x", "linear: dx"},
                                         {"backward", "d.gelu.x", "gelu: dx"},
                                         {"backward", "d.ln.x", "layer_norm: dx"},
                                         {"backward", "d.ln.weight", "layer_norm: dw"},
                                         {"backward", "d.ln.bias", "layer_norm: db"},
                                         {"backward", "d.relu.x", "relu: dx"},
                                         {"backward", "d.bn.x", "batch_norm: dx"},
                                         {"backward", "d.bn.weight", "batch_norm: dw"},
                                         {"backward", "d.bn.bias", "batch_norm: db"},
                                         {"accumulate", "buffer.linear.weight", "buffer"},
                                         {"unscale", "d.linear.weight", "unscaled gradient"},
                                         {"norm", "norm", "norm over all parameters"},
                                         {"clip", "coefficient", "clip: coefficient"},
                                         {"clip", "d.linear.weight", "clipped gradient"},
                                         {"decay", "d.linear.weight", "l2: gradient"},
                                         {"optimizer", "exp_avg.linear.weight", "Adam: first moment"},
                                         {"optimizer", "exp_avg_sq.linear.weight", "Adam: second moment"},
                                         {"optimizer", "linear.weight", "Adam: parameter", true}},
                                        with_norms},
                                       {{{"forward", "tanh.y", "tanh: y"},
                                         {"forward", "sigmoid.y", "sigmoid: y"},
                                         {"loss", "loss", "cross-entropy: loss of a row"},
                                         {"loss", "d.y", "cross-entropy: d.y"},
                                         {"backward", "d.tanh.x", "tanh: dx"},
                                         {"backward", "d.sigmoid.x", "sigmoid: dx"},
                                         {"decay", "linear.weight", "decoupled decay: parameter"},
                                         {"optimizer", "momentum.linear.weight", "SGD: momentum"},
                                         {"optimizer", "linear.weight", "SGD: parameter", true}},
                                        with_activations}};
  return all;
}

bool is(const TapName& name, const Row& row) { return name.stage == row.stage && name.tensor == row.tensor; }

Tensor times(const Tensor& tensor, double factor) {
  Tensor product = tensor;
  for (std::size_t i = 0; i < product.elements(); ++i) product.set(i, factor * tensor.value(i));
  return product;
}

/// Which taps fail, by name.
std::map<std::string, bool> failing(const std::vector<TensorCheck>& checks) {
  std::map<std::string, bool> found;
  for (const TensorCheck& check : checks) found[check.tap] |= check.status == Status::fail;
  return found;
}

/// A run that says nothing of how its kernels add, nor how accurate their functions are.
Trace silent(Trace trace) {
  for (auto& [operation, claim] : trace.claims.kernels) {
    claim.height = 0;
    claim.additions.clear();
    claim.function_ulp = 0;
  }
  return trace;
}

/// One run, its outputs planted all at once: every stage is judged by the inputs that it tapped.
class Planted {
 public:
  Planted(const Net& net, std::int64_t width, const StudyOptions& options, std::uint64_t seed, bool declares)
      : net_(net), case_(case_of(net.plan(width, seed))), clean_(run(case_, options.subject)) {
    if (!declares) clean_ = silent(std::move(clean_));
    accused_ = failing(local_lens(case_, clean_));
  }

  /// The k of the smallest theta 2^-k that is found in each of a row's taps, for every row; 0: not even 2^-2 is, -1: no
  /// tap, -2: the clean run is accused.
  Numbers smallest() {
    Numbers found(net_.rows.size(), -1);
    for (const auto& [name, fails] : accused_) {
      const TapName tap = tap_name_of(name);
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (fails && is(tap, net_.rows[i])) found[i] = -2;
      }
    }
    for (int k = finest; k >= coarsest; --k) {
      for (const bool apart : {false, true}) look(k, apart, found);
    }
    return found;
  }

 private:
  void look(int k, bool apart, Numbers& found) const {
    const auto open = [&](std::size_t i) { return net_.rows[i].apart == apart && (found[i] == 0 || found[i] == -1); };
    Trace planted;
    planted.claims = clean_.claims;
    planted.groups = clean_.groups;
    bool any = false;
    for (const Tap& tap : clean_.taps()) {
      bool wrong = false;
      for (std::size_t i = 0; i < net_.rows.size(); ++i) wrong = wrong || (open(i) && is(tap.name, net_.rows[i]));
      planted.add(tap.name, wrong ? times(tap.value, 1 + std::ldexp(1, -k)) : tap.value);
      any = any || wrong;
    }
    if (!any) return;
    const auto fails = failing(local_lens(case_, planted));
    for (std::size_t i = 0; i < net_.rows.size(); ++i) {
      if (!open(i)) continue;
      bool all = true, there = false;
      for (const Tap& tap : clean_.taps()) {
        if (!is(tap.name, net_.rows[i])) continue;
        const auto check = fails.find(tap.name.text());
        there = true;
        all = all && check != fails.end() && check->second;
      }
      if (there) found[i] = all ? k : 0;
    }
  }

  const Net& net_;
  Case case_;
  Trace clean_;
  std::map<std::string, bool> accused_;
};

std::string power(double k) {
  if (k < 0) return k == -2 ? "clean fails" : "";
  return k == 0 ? "none" : "2^-" + std::to_string(static_cast<int>(k));
}

}  // namespace

StudyTable stage_sensitivity(const StudyOptions& options) {
  const std::size_t seeds = scaled(options, 3, 1), all = 2 * std::size(widths) * seeds;
  const auto seed_of = [&](std::size_t job) { return options.seed + job % seeds; };
  const auto width_of = [&](std::size_t job) { return widths[job / seeds % std::size(widths)]; };
  const auto declares = [&](std::size_t job) { return job % all < all / 2; };
  const auto job = [&](std::size_t i) {
    return Planted(nets()[i / all], width_of(i), options, seed_of(i), declares(i)).smallest();
  };
  const auto title = [&](std::size_t i) {
    return "stages of width " + std::to_string(width_of(i)) + (declares(i) ? "" : ", undeclared");
  };
  const auto answers = run_jobs(options, nets().size() * all, job, title);
  StudyTable table{"Smallest error 1 + θ of a whole tensor found at its own tap, fp32",
                   "Every element multiplied by 1 + θ after a clean run; found with all of " + std::to_string(seeds) +
                       " seeds, by any lens. Layers of that width, two micro-batches of as many rows, at most 64; at "
                       "1024 the norm is over 1.1 million parameters. Undeclared: of kernels that claim no order of "
                       "additions and no accuracy of functions.",
                   {{"stage", {}, {}}}};
  for (const char* claim : {"", ", undeclared"}) {
    for (const std::int64_t width : widths) table.columns.push_back({"width " + std::to_string(width) + claim, {}, {}});
  }
  for (std::size_t n = 0; n < nets().size(); ++n) {
    for (std::size_t r = 0; r < nets()[n].rows.size(); ++r) {
      table.columns[0].words.push_back(nets()[n].rows[r].shown);
      for (std::size_t column = 0; column + 1 < table.columns.size(); ++column) {
        double k = finest;
        for (std::size_t s = 0; s < seeds; ++s) {
          const Numbers& found = answers[n * all + column * seeds + s];
          k = found.empty() ? -1 : std::min(k, found[r]);
        }
        table.columns[column + 1].words.push_back(power(k));
      }
    }
  }
  return table;
}

}  // namespace tally
