// `tally graph`: what a window of a case does, stage by stage.
#include <filesystem>

#include "oracle/case/generations.hpp"
#include "oracle/case/ranks.hpp"
#include "reports/command_line/check/case_file.hpp"
#include "reports/command_line/check/graph_drawing.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/exit_codes.hpp"
#include "reports/command_line/output.hpp"
#include "reports/record/record.hpp"

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
