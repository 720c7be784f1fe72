
#include <cstring>
#include <stdexcept>

#include "kernels/trace/trace.hpp"
#include "kernels/trace/trace_layout.hpp"
#include "oracle/case/file/json.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally {
namespace {

constexpr std::string_view mark = "tally-flat-trace";
constexpr std::uint64_t most_rank = 32;

[[noreturn]] void refuse(const std::string& what) { throw std::runtime_error("its trace: " + what); }

void put(std::string& bytes, std::uint64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void put(std::string& bytes, std::string_view text) {
  put(bytes, static_cast<std::uint64_t>(text.size()));
  bytes.append(text);
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  std::string_view take(std::uint64_t count) {
    if (count > left_.size()) refuse("it ends in the middle; expected all of what it tells of");
    const std::string_view taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view text() { return take(number()); }
  bool done() const { return left_.empty(); }

 private:
  std::string_view left_;
};

void read_tap(Reader& reader, TapLayouts& layouts, Trace& trace) {
  TapName name = tap_name_of(std::string(reader.text()));
  const std::uint64_t format = reader.number(), rank = reader.number();
  if (format >= format_rows.size() || rank > most_rank) refuse("'" + named(name.text()) + "' has no format or shape");
  const auto dtype = static_cast<Dtype>(format);
  std::vector<std::int64_t> shape(rank);
  for (std::int64_t& size : shape) size = static_cast<std::int64_t>(reader.number());
  const auto layout = layouts.of(name);
  if (!layout || layout->dtype != dtype || layout->shape != shape)
    refuse(named(name.text()) + ": found " + described(dtype, shape) + "; expected " +
           (layout ? described(layout->dtype, layout->shape) : "no such tap in this case"));
  const std::string_view data = reader.text();
  if (data.size() != elements_of(shape) * size_of(dtype))
    refuse(named(name.text()) + ": other bytes than its shape says");
  const auto* first = reinterpret_cast<const std::byte*>(data.data());
  trace.add(std::move(name), Tensor(dtype, std::move(shape), std::vector<std::byte>(first, first + data.size())));
}

}  // namespace

std::string flat_bytes_of(const Trace& trace) {
  std::string bytes(mark), groups;
  for (const StageGroup& group : trace.groups) groups += group.text() + "\n";
  put(bytes, trace.case_hash);
  put(bytes, to_json(trace.claims));
  put(bytes, groups);
  for (const Tap& tap : trace.taps()) {
    put(bytes, tap.name.text());
    put(bytes, static_cast<std::uint64_t>(tap.value.dtype));
    put(bytes, static_cast<std::uint64_t>(tap.value.shape.size()));
    for (const std::int64_t size : tap.value.shape) put(bytes, static_cast<std::uint64_t>(size));
    put(bytes, {reinterpret_cast<const char*>(tap.value.bytes.data()), tap.value.bytes.size()});
  }
  return bytes;
}

Trace trace_of_flat_bytes(std::string_view bytes, const Case& c, const std::string& hash) {
  Reader reader(bytes);
  if (reader.take(mark.size()) != mark) refuse("it is no trace of a library");
  Trace trace;
  trace.case_hash = reader.text();
  if (trace.case_hash != hash) refuse("it is of the case '" + named(trace.case_hash) + "'; expected '" + hash + "'");
  trace.claims = known_claims(std::string(reader.text()));
  trace.groups = stage_groups_of(reader.text());
  TapLayouts layouts(c);
  while (!reader.done()) read_tap(reader, layouts, trace);
  return trace;
}

}  // namespace tally
