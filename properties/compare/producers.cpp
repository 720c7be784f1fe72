#include "properties/compare/producers.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "oracle/case/generations.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/running_values.hpp"
#include "oracle/case/shards.hpp"

namespace tally {
namespace {

using Names = std::vector<TapName>;

/// Takes it away where the text begins with it.
bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

class Producers {
 public:
  Producers(const Case& c, const std::vector<LayerView>& layers, const TapName& read)
      : c_(c), layers_(layers), read_(read), rest_(read.tensor) {
    take(rest_, "in.");
  }

  Names all() {
    const std::string& stage = read_.stage;
    if (stage == "forward" || stage == "backward") return of_layer();
    if (stage == "count") return {};
    if (stage == "fork") return of_fork();
    if (stage == "loss") return rest_ == "y" ? output_of(static_cast<LayerInput>(layers_.size()) - 1) : Names{};
    if (stage == "sync_statistics") return of_own_rows();
    if (stage == "reduce") return of_sum();
    if (stage == "checkpoint") return of_checkpoint();
    if (take(rest_, "shard.")) return {of_whole(read_.window, stage == "all_gather" ? "cast" : "optimizer", text())};
    if (take(rest_, "buffer.")) return {buffer("buffer.")};
    if (take(rest_, "compensation.")) return {buffer("compensation.")};
    if (stage == "accumulate") return take(rest_, "d.") ? Names{gradient()} : Names{};
    if (take(rest_, "d.")) return of_gradient();
    return stage == "running_stats" ? of_running() : of_window();
  }

 private:
  std::string text() const { return std::string(rest_); }
  TapName here(const std::string& stage, const std::string& tensor) const {
    return {read_.window, read_.micro_batch, stage, tensor};
  }
  TapName here(const StageTensor& tensor) const { return here(tensor.stage, tensor.tensor); }
  TapName of_whole(int window, const std::string& stage, const std::string& tensor) const {
    return {window, -1, stage, tensor};
  }

  Names output_of(LayerInput from) const {
    return from == model_input ? Names{} : Names{here("forward", layers_[static_cast<std::size_t>(from)].label + ".y")};
  }

  /// What a layer reads of others, and the gradient of its output.
  Names of_layer() {
    if (take(rest_, "d.")) {
      for (const LayerView& layer : layers_)
        if (rest_ == layer.label + ".y") return {here(gradient_of_output(layers_, layer))};
      return {};
    }
    if (rest_ == "tokens" || rest_ == "positions") return {};
    for (const LayerView& layer : layers_)
      for (std::size_t j = 0; j < layer.inputs.size(); ++j)
        if (rest_ == layer.input_name(j)) return output_of(layer.inputs[j]);
    for (const LayerView& layer : layers_)
      for (const std::string& kept : layer.contract->kept_for_backward)
        if (rest_ == layer.label + "." + kept) return {here("forward", text())};
    if (shards_parameters(c_) && std::ranges::count(parameters_of(c_.model), rest_) > 0)
      return {here("all_gather", (read_.stage == "backward" ? "again." : "") + text())};
    return {of_whole(read_.window, "cast", text())};
  }

  /// What a reader of a forked output gave.
  Names of_fork() {
    take(rest_, "d.");
    for (const LayerView& layer : layers_)
      if (layer.shares_weight && layer.gradient_name("weight") == "d." + text())
        return {here("backward", "d." + text())};
    for (std::size_t i = 0; i < layers_.size(); ++i)
      for (std::size_t j = 0; j < layers_[i].inputs.size(); ++j)
        if (rest_ == layers_[i].input_name(j)) return {here(gradient_given_by(layers_, {i, j}))};
    return {};
  }

  /// What a rank brings to a micro-step's statistics; how many rows it has stands in the case.
  Names of_own_rows() const {
    if (rest_.ends_with(".count")) return {};
    return {here(rest_.ends_with(".sum_dy") || rest_.ends_with(".sum_dy_h") ? "backward" : "forward", text())};
  }

  bool communicates(Communicate when) const { return in_ranks(c_) && communicate_of(c_) == when; }
  int micro_batches() const { return static_cast<int>(c_.windows[static_cast<std::size_t>(read_.window)].size()); }

  /// What a rank hands to a sum over ranks.
  Names of_sum() {
    if (take(rest_, "d.")) return {here(gradient_of_parameter(layers_, text()))};
    if (!take(rest_, "buffer.")) return {};
    const auto steps = static_cast<int>(micro_steps_of(c_, static_cast<std::size_t>(read_.window)));
    const int last = (replicas_of(c_) > 1 ? steps : micro_batches()) - 1;
    const int k = read_.micro_batch < 0 ? last : read_.micro_batch;
    return {{read_.window, k, "accumulate", "buffer." + text()}};
  }

  /// What is added to a buffer.
  TapName gradient() const {
    return communicates(Communicate::micro_batch) ? here("reduce", "reduced." + text())
                                                  : here(gradient_of_parameter(layers_, text()));
  }

  /// Before this micro-batch, or before the window's end.
  TapName buffer(const std::string& kind) const {
    const bool within = read_.stage == "accumulate", each = in_ranks(c_) && communicates_each(c_);
    const auto steps = static_cast<int>(micro_steps_of(c_, static_cast<std::size_t>(read_.window)));
    const int last = (within ? read_.micro_batch : each ? steps : micro_batches()) - 1;
    if (kind == "buffer." && communicates(Communicate::running_total))
      return {read_.window, last, "reduce", "reduced." + text()};
    const bool summed_last = communicates(Communicate::window) || replicas_of(c_) > 1;
    if (!within && kind == "buffer." && summed_last) return {read_.window, -1, "reduce", "reduced." + text()};
    return {read_.window, last, "accumulate", kind + text()};
  }

  /// What the last stage in front left of it.
  Names of_gradient() const {
    constexpr std::array<std::string_view, 4> stages{"unscale", "clip", "decay", "optimizer"};
    const auto reader = std::find(stages.begin(), stages.end(), read_.stage == "norm" ? "clip" : read_.stage);
    Names names;
    for (auto stage = reader; reader != stages.end() && stage != stages.begin();)
      names.push_back(of_whole(read_.window, std::string(*--stage), "d." + text()));
    return names;
  }

  /// What a rank's window begins with, where that is the first rank's.
  Names of_running() const {
    for (const LayerView& layer : layers_)
      if (layer.step_statistics && in_ranks(c_) && (rest_ == layer.label + ".mean" || rest_ == layer.label + ".var"))
        return {here("sync_statistics", text())};
    for (const LayerView& layer : layers_)
      if (rest_.starts_with(layer.label + ".running_") && read_.micro_batch == 0 &&
          takes_first_running(c_, *layer.layer))
        return {of_whole(read_.window, "running_stats", "broadcast." + text())};
    return {};
  }

  /// What ranks write down, as their last window left it.
  Names of_checkpoint() const {
    if (rest_ == "step") return {of_whole(read_.window, "schedule", text())};
    if (rest_ == "scale" || rest_ == "growth_counter") return {of_whole(read_.window, "scaler", text())};
    if (rest_.ends_with(".running_mean") || rest_.ends_with(".running_var")) return {};
    Names names;
    for (int window = read_.window; window >= 0; --window) names.push_back(of_whole(window, "optimizer", text()));
    return names;
  }

  /// Parameters and state, of this window's decay or the last step; a window may have been skipped.
  Names of_window() const {
    Names names;
    if (read_.stage == "optimizer") names.push_back(of_whole(read_.window, "decay", text()));
    const bool of_the_scale = read_.stage == "scaler" || read_.stage == "schedule";
    const bool gathered = shards_optimizer(c_) && !shards_parameters(c_) && read_.stage == "cast";
    const std::string step = gathered ? "gather_updated" : "optimizer";
    const std::string stage = of_the_scale ? read_.stage : step;
    for (int window = read_.window - 1; window >= 0; --window) {
      if (begins_from_checkpoint(c_, static_cast<std::size_t>(window) + 1))
        names.push_back(of_whole(window + 1, "checkpoint", text()));
      names.push_back(of_whole(window, stage, text()));
    }
    if (read_.stage == "clip" && rest_ == "norm") names = {of_whole(read_.window, "norm", "norm")};
    return names;
  }

  const Case& c_;
  const std::vector<LayerView>& layers_;
  const TapName& read_;
  std::string_view rest_;
};

}  // namespace

std::vector<TapName> producers_of(const Case& c, const std::vector<LayerView>& layers, const TapName& read) {
  return Producers(c, layers, read).all();
}

}  // namespace tally
