// What a window does, stated once: its stages as nodes, the tensors that each reads and leaves, and where what it reads
// stands. A template: windows, micro-batches and ranks are places on it, and cost nothing.
//   A node is a stage at one place: N = (stage, window, k), k = -1 for the stages of the whole window. Its inputs name
// outputs of other nodes by stage, tensor and relative place, so that the graph of a training is this one, repeated.
// Defined in window_graph.cpp, layer_nodes.cpp, update_nodes.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/graph/stage.hpp"

namespace tally {

/// How many sequences the micro-batch has, in a shape; beside rows_in_place and pairs_in_place (oracle/case/rows.hpp).
inline constexpr std::int64_t sequences_in_place = -3;

/// Where an output stands that is read, seen from the reader.
enum class From : std::uint8_t {
  here,          // the same micro-batch, or the same window
  window,        // the window's own node
  each,          // every micro-batch of the window
  in_front,      // the micro-batch before, where there is one
  previous,      // the micro-batch that went back before
  without_rows,  // the micro-batch before, for a reader that has no rows of its own
  last,          // the last micro-batch of the rank
  last_of_all,   // the last micro-batch that any rank has
  earlier,       // a window before, the nearest that left it
  last_run,      // the last run of the stage in front of this one, of this window or one before
};

/// An output that is read. An empty tensor: all that the node leaves.
struct Source {
  StageName stage;
  std::string tensor;
  From from = From::here;
  friend bool operator==(const Source&, const Source&) = default;
};

/// A tensor of a node, by the name that its tap has.
struct Port {
  /// Those of the case's precision, that of what travels between ranks, and those that never change.
  enum class Format : std::uint8_t { storage, accumulate, master, wire, fp32, i64, u8 };

  std::string tensor;  // "in.d.fc1.weight"
  Format format = Format::fp32;
  std::vector<std::int64_t> shape;  // with rows_in_place … where the micro-batch says it
  bool input = false;
  bool apart = false;         // stands in the place of another port; the node says what is read
  bool has_no_piece = false;  // a rank's piece without any element: there is no such tensor
  int pipe = -1;              // the stage of a pipeline that alone has it
  std::string of = {};        // the layer or parameter that the node works on there; empty: all at once
  /// The sources of an input, whose bits are those of the first of them that there is. None: the case's, or a constant.
  std::vector<Source> sources = {};
};

Dtype dtype_of(const Case& c, Port::Format format);

struct Node {
  StageName stage;
  bool of_window = false;     // else of every micro-batch
  bool without_rows = false;  // of micro-batches that other ranks alone have, too
  std::vector<Port> ports = {};
  /// What else it depends on, of each list the first that there is: decisions, statistics, what constants follow from.
  std::vector<std::vector<Source>> behind = {};
};

/// Which nodes a node reads, each once, whatever the tensor: of every list the first that there is.
std::vector<std::vector<Source>> edges_into(const Node& node);

class WindowGraph {
 public:
  /// The graph of a case of one rank, or of a rank's part. The case must outlive this object.
  explicit WindowGraph(const Case& c);
  WindowGraph(const WindowGraph&) = delete;  // it points into itself
  WindowGraph& operator=(const WindowGraph&) = delete;
  WindowGraph(WindowGraph&&) = default;
  WindowGraph& operator=(WindowGraph&&) = default;
  ~WindowGraph() = default;

  const std::vector<Node>& nodes() const { return nodes_; }
  /// nullptr: no such node, or none of its tensors is called so.
  const Node* node(std::string_view stage, bool of_window) const;
  const Port* port(std::string_view stage, bool of_window, std::string_view tensor) const;

 private:
  std::vector<Node> nodes_;
  std::vector<std::unordered_map<std::string_view, const Port*>> ports_;  // of each node, by tensor
};

/// A node of a training: a stage at its place.
struct NodePlace {
  StageName stage;
  int window = 0, micro_batch = -1;
  friend auto operator<=>(const NodePlace&, const NodePlace&) = default;
};

/// The places that a source may mean for a reader there, the likeliest first; whether the node exists is the asker's
/// to say. `From::each` names all that it means.
std::vector<NodePlace> places_read(const Case& c, const Source& source, const NodePlace& reader);

}  // namespace tally
