#include "properties/faults/planted_between.hpp"

#include <bit>

namespace tally {
namespace {

std::vector<Tensor> contents(Stream& stream, const std::vector<Written>& written) {
  stream.synchronize();
  std::vector<Tensor> all;
  for (const Written& each : written) {
    all.emplace_back(each.dtype, std::vector<std::int64_t>{each.elements});
    stream.device().read(each.address, all.back().bytes.data(), all.back().bytes.size());
  }
  return all;
}

void put_back(Stream& stream, const std::vector<Written>& written, const std::vector<Tensor>& contents) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    stream.device().write(written[i].address, contents[i].bytes.data(), contents[i].bytes.size());
  }
}

}  // namespace

double mixed(Mix mix, std::size_t i, double right, double wrong) {
  if (mix == Mix::elements) return hits(i) ? wrong : right;
  return blend(right, wrong);
}

Tensor mixed(Mix mix, const Tensor& right, const Tensor& wrong) {
  Tensor result = right;
  for (std::size_t i = 0; i < right.elements(); ++i) {
    const double value = right.value(i), now = mixed(mix, i, value, wrong.value(i));
    const bool same = std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(now);
    if (!same) result.set(i, now);  // a NaN keeps its bits
  }
  return result;
}

void between(Stream& stream, const std::vector<Written>& written, const std::function<void()>& right,
             const std::function<void()>& wrong, Mix mix) {
  if (magnitude() == 1) return wrong();
  const std::vector<Tensor> before = contents(stream, written);
  right();
  std::vector<Tensor> left = contents(stream, written);
  put_back(stream, written, before);
  wrong();
  const std::vector<Tensor> wrongly = contents(stream, written);
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = mixed(mix, left[i], wrongly[i]);
  put_back(stream, written, left);
}

}  // namespace tally
