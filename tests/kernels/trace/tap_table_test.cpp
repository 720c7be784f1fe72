// The table of kernels/trace/trace.md is what graphs of windows say, of cases that have it all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "oracle/case/contract.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/graph/layer_view.hpp"
#include "oracle/graph/window_graph.hpp"
#include "tests/oracle/case/case_files.hpp"

namespace tally::tap_table_test {
namespace {

const std::filesystem::path page = std::filesystem::path(TALLY_SOURCE_DIR) / "kernels/trace/trace.md";

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& file : tests::json_files(tests::case_folder / "valid")) all.push_back(read_case_file(file));
  const Case ranks = read_case_file(tests::case_folder / "valid/ranks.json");
  for (const char* sharding : {"optimizer", "gradients", "parameters"})
    all.push_back(with_rank_option(ranks, "sharding", std::string(sharding)));
  for (const char* when : {"micro_batch", "running_total"})
    all.push_back(with_rank_option(ranks, "communicate", std::string(when)));
  Case clipped = with_rank_option(ranks, "sharding", std::string("optimizer"));
  const Case adam = read_case_file(tests::case_folder / "valid/adam_fp16_dynamic_scale.json");
  clipped.recipe = adam.recipe;
  all.push_back(clipped);
  Case normed = ranks, changing = read_case_file(tests::case_folder / "valid/changing_ranks.json");
  normed.model = read_case_file(tests::case_folder / "valid/two_windows_short_tail.json").model;
  changing.model = normed.model;
  changing.recipe = adam.recipe;
  all.push_back(changing);
  for (const char* statistics : {"micro_batch", "micro_step", "frozen"}) {
    for (Layer& layer : normed.model.layers)
      if (layer.kind == "batch_norm") layer.options["statistics"] = std::string(statistics);
    for (const char* by : {"moments", "sums", "two_pass"})
      all.push_back(with_rank_option(normed, "statistics", std::string(by)));
  }
  std::erase_if(all, [](const Case& c) { return std::ranges::count(c.model.layers, "in", &Layer::name) > 0; });
  for (Case& each : all)
    for (const std::string& weight : weights_of(each.model)) each.tensors.try_emplace(weight, Tensor(Dtype::fp32, {1}));
  return all;
}

bool take(std::string& text, const std::string& prefix) {
  if (!text.starts_with(prefix)) return false;
  text.erase(0, prefix.size());
  return true;
}

/// The name with `<p>` for a parameter, `<L>` for a layer and `<x>` for what it reads.
std::string general(const std::vector<LayerView>& layers, const std::vector<std::string>& weights, std::string name) {
  std::string marks;
  std::vector<std::string> known{"in.",    "d.",    "buffer.",  "compensation.", "shard.",
                                 "again.", "wire.", "reduced.", "broadcast."};
  for (const std::string& state : state_names()) known.push_back(state + ".");
  for (bool more = true; more;) {
    more = false;
    for (const std::string& mark : known)
      if (take(name, mark)) marks += mark, more = true;
  }
  const std::string parameter = name.substr(0, name.find('@'));
  if (std::ranges::count(weights, parameter) > 0) return marks + (parameter == name ? "<p>" : "<p>@<L>");
  for (const LayerView& layer : layers) {
    if (!name.starts_with(layer.label + ".")) continue;
    for (std::size_t j = 0; j < layer.inputs.size(); ++j)
      if (name == layer.input_name(j)) return marks + "<L>.<x>";
    return marks + "<L>" + name.substr(layer.label.size());
  }
  return marks + name;
}

std::string format_of(const Port& port, bool of_parameter) {
  using enum Port::Format;
  static const std::map<Port::Format, std::string> words{{storage, "S"}, {accumulate, "A"}, {master, "M"}, {wire, "W"},
                                                         {fp32, "fp32"}, {i64, "i64"},      {u8, "u8"}};
  std::string text = words.at(port.format);
  if (of_parameter) return text;
  text += " `[";
  for (std::size_t i = 0; i < port.shape.size(); ++i) {
    const std::int64_t size = port.shape[i];
    text += i > 0 ? ", " : "";
    text += size == rows_in_place        ? "rows"
            : size == pairs_in_place     ? "pairs"
            : size == sequences_in_place ? "sequences"
                                         : "n";
  }
  return text + "]`";
}

/// Taps of one cell: what they are called, by format and shape, in the order in which they came.
class Cell {
 public:
  void add(const std::string& name, const std::string& format) {
    if (!seen_.insert(name + format).second) return;
    for (auto& [known, names] : groups_)
      if (known == format) return names.push_back(name);
    groups_.push_back({format, {name}});
  }
  std::string text() const {
    std::string text;
    for (const auto& [format, names] : groups_) {
      text += text.empty() ? "" : "; ";
      for (std::size_t i = 0; i < names.size(); ++i) text += (i > 0 ? ", `" : "`") + names[i] + "`";
      text += " " + format;
    }
    return text;
  }

 private:
  std::set<std::string> seen_;
  std::vector<std::pair<std::string, std::vector<std::string>>> groups_;
};

std::string table() {
  std::map<std::pair<StageName, bool>, std::pair<Cell, Cell>> rows;
  for (const Case& each : cases()) {
    const Case whole = generation_of(each, 0), c = whole.dealt.empty() ? whole : part_of(whole, 0);
    const std::vector<LayerView> layers = layers_of(c.model);
    const std::vector<std::string> weights = weights_of(c.model);
    const WindowGraph graph(c);
    for (const Node& node : graph.nodes())
      for (const Port& port : node.ports) {
        const std::string name = general(layers, weights, port.tensor);
        auto& row = rows[{node.stage, node.of_window}];
        (port.input ? row.first : row.second).add(name, format_of(port, name.find("<p>") != std::string::npos));
      }
  }
  std::string text = "| stage | of each | inputs | outputs |\n|---|---|---|---|\n";
  for (const auto& [place, cells] : rows)
    text += "| `" + std::string(name_of(place.first)) + "` | " + (place.second ? "window" : "micro-batch") + " | " +
            cells.first.text() + " | " + cells.second.text() + " |\n";
  return text;
}

TEST(WindowGraph, NamesTheLayerOrParameterThatAPortIsOf) {
  const Case c = read_case_file(tests::case_folder / "valid/adam_fp16_dynamic_scale.json");
  const WindowGraph graph(c);
  const std::string p = parameters_of(c.model).front(), layer = p.substr(0, p.rfind('.'));
  const auto of = [&](const char* stage, bool of_window, const std::string& tensor) {
    const Port* port = graph.port(stage, of_window, tensor);
    return port == nullptr ? "no port" : port->of;
  };
  EXPECT_EQ(of("forward", false, "in." + p), layer);
  EXPECT_EQ(of("backward", false, "d." + p), layer);
  EXPECT_EQ(of("unscale", true, "in.buffer." + p), p);
  EXPECT_EQ(of("optimizer", true, "in.exp_avg." + p), p);
  for (const char* stage : {"overflow_check", "norm"})
    for (const Port& port : graph.node(stage, true)->ports) EXPECT_EQ(port.of, "") << stage << " " << port.tensor;
}

TEST(TapTable, IsThatOfThePage) {
  const std::string made = table(), head = made.substr(0, made.find('\n') + 1), now = tests::text_of(page);
  const std::size_t begin = now.find(head), end = begin == std::string::npos ? begin : now.find("\n\n", begin) + 1;
  ASSERT_NE(begin, std::string::npos) << page << " has no line " << head;
  if (const char* out = std::getenv("TALLY_WRITE_TAPS"))
    std::ofstream(out, std::ios::binary) << now.substr(0, begin) + made + now.substr(end);
  EXPECT_EQ(made, now.substr(begin, end - begin))
      << "run this test with TALLY_WRITE_TAPS=" << page.string() << " to write it anew";
}

}  // namespace
}  // namespace tally::tap_table_test
