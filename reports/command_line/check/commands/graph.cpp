// `tally graph`: what a window of a case does, stage by stage, as text and as a picture.
#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include "oracle/case/ranks.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/graph/window_graph.hpp"
#include "reports/command_line/check/answers.hpp"
#include "reports/command_line/check/run_words.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/html/plot.hpp"
#include "reports/record/record.hpp"

namespace tally::command_line {
namespace {

std::string size_word(std::int64_t size) {
  if (size == rows_in_place) return "rows";
  if (size == pairs_in_place) return "pairs";
  return size == sequences_in_place ? "sequences" : std::to_string(size);
}

std::string described(const Case& c, const Port& port) {
  std::string text = port.tensor + " " + std::string(name_of(dtype_of(c, port.format))) + " [";
  for (std::size_t i = 0; i < port.shape.size(); ++i) text += (i > 0 ? ", " : "") + size_word(port.shape[i]);
  return text + "]";
}

const char* place_word(From from) {
  switch (from) {
    case From::here:
      return "";
    case From::window:
      return ", of the window";
    case From::each:
      return ", of each micro-batch";
    case From::in_front:
      return ", of the micro-batch in front";
    case From::previous:
      return ", of the micro-batch that went back before";
    case From::without_rows:
      return ", of the micro-batch in front, where the rank has no rows";
    case From::last:
      return ", of the last micro-batch";
    case From::last_of_all:
      return ", of the last micro-batch of any rank";
    case From::earlier:
      return ", of a window before";
    case From::last_run:
      return ", of the last run";
  }
  return "";
}

std::string sources_of(const Port& port) {
  std::string text;
  for (const Source& source : port.sources)
    text += (text.empty() ? " from " : " or ") + std::string(name_of(source.stage)) + "/" + source.tensor +
            place_word(source.from);
  return text;
}

/// Nodes in boxes of one size: a column for each, a line for the window and one for each micro-batch.
class Picture {
 public:
  explicit Picture(const Case& c) : case_(c), graph_(c) {
    constexpr int most_micro_batches = 4;
    micro_batches_ = std::min(static_cast<int>(c.windows.front().size()), most_micro_batches);
    for (const Node& node : graph_.nodes())
      for (int k = node.of_window ? -1 : 0; k < (node.of_window ? 0 : micro_batches_); ++k)
        at_[{node.stage, 0, k}] = {left + column_of(node.stage) * across, top + (k + 1) * down};
  }

  std::string drawn() const {
    std::string out;
    {
      Markup page(out);
      const auto width = static_cast<int>(left + static_cast<double>(columns_.size()) * across);
      const auto height = static_cast<int>(top + (micro_batches_ + 1) * down);
      Svg svg(page, "graph", "The graph of a window", description(), width, height);
      for (int k = -1; k < micro_batches_; ++k)
        svg.text({8, top + (k + 1) * down + box_height / 2 + 4}, "start",
                 k < 0 ? "window" : "micro-batch " + std::to_string(k));
      for (const Node& node : graph_.nodes()) draw_edges(svg, node);
      for (const Node& node : graph_.nodes()) draw(svg, node);
    }
    const std::string begin = "<svg ";
    out.insert(out.find(begin) + begin.size(), "xmlns=\"http://www.w3.org/2000/svg\" ");
    return out + "\n";
  }

 private:
  static constexpr double left = 100, top = 40, across = 118, down = 96, box_width = 100, box_height = 40;

  int column_of(StageName stage) {
    const auto found = std::ranges::find(columns_, stage);
    if (found != columns_.end()) return static_cast<int>(found - columns_.begin());
    columns_.push_back(stage);
    return static_cast<int>(columns_.size()) - 1;
  }

  std::string description() const {
    const std::size_t all = case_.windows.front().size();
    return std::to_string(at_.size()) + " nodes of window 0" +
           (static_cast<std::size_t>(micro_batches_) < all
                ? ", the first " + std::to_string(micro_batches_) + " of " + std::to_string(all) + " micro-batches"
                : "") +
           "; an arrow is what one reads of another, dashed what it reads of a window before";
  }

  void draw(Svg& svg, const Node& node) const {
    for (const auto& [place, corner] : at_) {
      if (place.stage != node.stage || (place.micro_batch < 0) != node.of_window) continue;
      const auto read = std::ranges::count(node.ports, true, &Port::input);
      const auto left_behind = static_cast<std::ptrdiff_t>(node.ports.size()) - read;
      svg.rectangle(corner, box_width, box_height, ink::grid, "1");
      svg.text({corner.x + box_width / 2, corner.y + 17}, "middle", name_of(node.stage));
      svg.text({corner.x + box_width / 2, corner.y + 32}, "middle",
               std::to_string(read) + " in, " + std::to_string(left_behind) + " out", ink::axis);
    }
  }

  void draw_edges(Svg& svg, const Node& node) const {
    const std::vector<std::vector<Source>> edges = edges_into(node);
    for (const auto& [place, corner] : at_) {
      if (place.stage != node.stage || (place.micro_batch < 0) != node.of_window) continue;
      bool earlier = false;
      for (const std::vector<Source>& sources : edges) {
        earlier = earlier || sources.front().from == From::earlier;
        for (const NodePlace& from : first_there(sources, place)) arrow(svg, at_.at(from), corner);
      }
      if (earlier) svg.line({corner.x + 12, corner.y - 20}, {corner.x + 12, corner.y}, ink::series[1], 1.5, "3 3");
    }
  }

  /// The first of the sources that is in the picture.
  std::vector<NodePlace> first_there(const std::vector<Source>& sources, const NodePlace& reader) const {
    for (const Source& source : sources) {
      std::vector<NodePlace> found;
      for (const NodePlace& place : places_read(case_, source, reader))
        if (at_.contains(place) && (source.from == From::each || found.empty())) found.push_back(place);
      if (!found.empty()) return found;
    }
    return {};
  }

  /// From the right side of a box to the left of one behind it; else from below it.
  static void arrow(Svg& svg, Point from, Point to) {
    const auto text = [](double number) { return std::to_string(static_cast<int>(number)); };
    const auto point = [&](double x, double y) { return text(x) + " " + text(y); };
    const double middle = box_height / 2, reach = 24;
    Point tip{to.x, to.y + middle};
    std::string path;
    if (to.x > from.x) {
      const Point begin{from.x + box_width, from.y + middle};
      path = "M" + point(begin.x, begin.y) + "C" + point(begin.x + reach, begin.y) + " " + point(tip.x - reach, tip.y) +
             " " + point(tip.x, tip.y);
    } else {
      const bool back = to.x < from.x;  // under both boxes; else down a column
      const Point begin{from.x + box_width / 2, from.y + box_height};
      tip = {to.x + box_width / 2, to.y + (back ? box_height : 0)};
      path = "M" + point(begin.x, begin.y) + "C" + point(begin.x, begin.y + reach) + " " +
             point(tip.x, tip.y + (back ? reach : -reach)) + " " + point(tip.x, tip.y);
    }
    svg.path(path, ink::series[0], 1, false);
    svg.dots({tip}, ink::series[0], 2.5);
  }

  const Case& case_;
  WindowGraph graph_;
  int micro_batches_ = 0;
  std::vector<StageName> columns_;
  std::map<NodePlace, Point> at_;
};

}  // namespace

std::string graph_as_text(const Case& c) {
  const WindowGraph graph(c);
  std::string text;
  for (const Node& node : graph.nodes()) {
    text += std::string(name_of(node.stage)) + (node.of_window ? ", of the window\n" : ", of each micro-batch\n");
    for (const Port& port : node.ports)
      text += (port.input ? "  reads  " : "  leaves ") + described(c, port) + sources_of(port) + "\n";
  }
  return text;
}

std::string graph_as_picture(const Case& c) { return Picture(c).drawn(); }

}  // namespace tally::command_line

namespace tally::command_line::graph_command {
namespace {

struct GraphOptions {
  std::string case_file, out;
  std::size_t rank = 0;
};

int graph(const GraphOptions& options) {
  if (!options.out.empty() && std::filesystem::path(options.out).extension() != ".svg")
    throw UsageError("--out: found " + options.out + "; expected the name of a file that ends with .svg");
  const Case whole = case_in(options.case_file);
  const std::size_t ranks = whole.dealt.empty() ? 1 : ranks_of(whole, 0);
  if (options.rank >= ranks)
    throw UsageError("--rank: found " + std::to_string(options.rank) + "; expected a rank of the first window, below " +
                     std::to_string(ranks));
  const Case first = generation_of(whole, 0), c = whole.dealt.empty() ? first : part_of(first, options.rank);
  if (options.out.empty())
    print_document(graph_as_text(c));
  else
    write_atomically(options.out, graph_as_picture(c));
  return pass;
}

void add_options(CLI::App& command, GraphOptions& options) {
  command.add_option("case", options.case_file, "case file")->required();
  command.add_option("--out", options.out, "picture to write, an SVG file, instead of text on standard output");
  command.add_option("--rank", options.rank, "of ranks: whose part")->capture_default_str();
}

const RegisterCommand registered{{
    .place = 147,
    .name = "graph",
    .help = "show what a window of a case does: the tensors that each stage reads and leaves, and from whom",
    .bind = with_options(add_options, graph),
}};

}  // namespace
}  // namespace tally::command_line::graph_command
