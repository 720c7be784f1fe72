#include "oracle/case/family.hpp"

namespace tally {
namespace {

constexpr std::int64_t most_classes = std::int64_t{1} << 40;

/// Word 0 and 1 as one 64-bit fraction, times n.
std::int64_t class_below(const Words& w, std::int64_t n) {
  const std::uint64_t fraction = std::uint64_t{w[1]} << 32 | w[0];
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::int64_t>((Wide{fraction} * static_cast<std::uint64_t>(n)) >> 64);
}

std::int64_t whole_zero(const Words&, const Arguments&) { return 0; }
std::int64_t whole_one(const Words&, const Arguments&) { return 1; }
std::int64_t classes(const Words& w, const Arguments& a) { return class_below(w, a[0]); }
std::int64_t classes_ignored(const Words& w, const Arguments& a) {
  return static_cast<std::int64_t>(w.below(2, 100)) < a[1] ? -100 : class_below(w, a[0]);
}
std::int64_t counts(const Words& w, const Arguments& a) { return class_below(w, a[0] + 1); }
std::int64_t mask(const Words& w, const Arguments& a) {
  return static_cast<std::int64_t>(w.below(0, 100)) < a[0] ? 1 : 0;
}

}  // namespace

const std::vector<WholeFamily>& whole_families() {
  static const std::vector<WholeFamily> all{
      {"zeros", {}, {Dtype::i64, Dtype::u8}, whole_zero},
      {"ones", {}, {Dtype::i64, Dtype::u8}, whole_one},
      {"classes", {most_classes}, {Dtype::i64}, classes},
      {"classes_ignored", {most_classes, 100}, {Dtype::i64}, classes_ignored},
      {"counts", {most_classes}, {Dtype::i64, Dtype::u8}, counts},
      {"mask", {100}, {Dtype::u8}, mask},
  };
  return all;
}

}  // namespace tally
