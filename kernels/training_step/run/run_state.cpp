// What a stage may read or change: tensors on the device, the run's own places in them, its products, and the layers'
// steps.
#include "kernels/training_step/run/run_state.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "kernels/ranks/link.hpp"
#include "kernels/trace/last_place.hpp"
#include "kernels/trace/tap_name.hpp"
#include "kernels/training_step/run/device_tensor.hpp"
#include "kernels/training_step/stages.hpp"

namespace tally {

DeviceTensor::DeviceTensor(Device& on, const std::string& name, Dtype format, std::vector<std::int64_t> dimensions)
    : dtype(format), shape(std::move(dimensions)), device_(&on) {
  const std::size_t elements = elements_of(shape);
  memory_.emplace(on, name, dtype, elements);
  data_ = memory_->data();
  if (!shape.empty() && shape[0] > 0) row_bytes_ = size_of(dtype) * (elements / static_cast<std::size_t>(shape[0]));
}

DeviceTensor::DeviceTensor(Device& on, const std::string& name, const Tensor& value)
    : DeviceTensor(on, name, value.dtype, value.shape) {
  device_->write(data_, value.bytes.data(), value.bytes.size());
}

Tensor DeviceTensor::read() const {
  Tensor value(dtype, shape);
  device_->read(data_, value.bytes.data(), value.bytes.size());
  return value;
}

void DeviceTensor::fill_on(Stream& stream, int byte) {
  if (data_ != nullptr) stream.fill(data_, byte, size_of(dtype) * elements_of(shape));
}

void DeviceTensor::fill(int byte) {
  if (data_ != nullptr) device_->fill(data_, byte, size_of(dtype) * elements_of(shape));
}

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

DeviceTensor& LayerState::row_statistic(std::string_view name) {
  if (name == "mean") return mean;
  if (name == "rstd") return rstd;
  if (name == "lse") return lse;
  if (name == "delta") return delta;
  throw std::logic_error("no layer leaves '" + std::string(name) + "' row by row");
}

int Run::pipe_tag(std::string_view stage, std::string_view tensor) const {
  return pipelined() ? pipe_in_name(stage, tensor, micro_batch, pipe_rank) : -1;
}

const std::vector<RankPiece>& Run::own_pieces() const {
  return pieces[static_cast<std::size_t>(sharers ? sharers->rank() : options.link->rank())];
}

std::int64_t Run::rows(int k) const { return c.windows[at(window)][at(k)]; }

std::int64_t Run::first_row(int k) const { return first_rows_[at(window)][at(k)]; }

std::int64_t Run::first_row_alive(int k) const { return lockstep ? first_row(k) - first_row(0) : 0; }

double Run::items(int k) const {
  double sum = 0;
  const std::int64_t first = first_row(k);
  for (std::int64_t row = first; row < first + rows(k); ++row) sum += item_weights_[static_cast<std::size_t>(row)];
  return sum;
}

void* Run::x_of(const LayerState& layer, int k, std::size_t input) const {
  const LayerInput from = layer.inputs[input];
  return from == model_input ? x.row(first_row(k)) : y_of(layers[static_cast<std::size_t>(from)], k);
}

void* Run::y_of(const LayerState& layer, int k) const { return layer.y.row(first_row_alive(k)); }

void* Run::dx_of(const LayerState& layer, int k, std::size_t input) const {
  const bool own = input > 0 && !layer.more_dx.empty();
  return (own ? layer.more_dx.at(input - 1) : layer.dx).row(first_row_alive(k));
}

void* Run::dy_of(const LayerState& layer, int k) const {
  if (layer.dy) return layer.dy.row(first_row_alive(k));
  return layer.readers.empty() ? dy.row(first_row_alive(k)) : given_by(layer.readers.front(), k);
}

void* Run::given_by(const LayerReader& reader, int k) const {
  const LayerState& layer = layers[reader.layer];
  return layer.hands_on ? dy_of(layer, k) : dx_of(layer, k, reader.input);
}

void* Run::output(int k) const { return layers.empty() ? x.row(first_row(k)) : y_of(layers.back(), k); }

void* Run::gradient_of(const Parameter* parameter, int k) const {
  return parameter == nullptr || !parameter->trains ? nullptr : parameter->gradient.row(slot(k));
}

void* Run::gradient_by(const LayerState& layer, const Parameter* parameter, int k) const {
  const bool shared = layer.shared_gradient && parameter == layer.weight;
  return shared ? layer.shared_gradient.row(slot(k)) : gradient_of(parameter, k);
}

const DeviceTensor& Run::tap_summed(const char* stage, const Parameter& parameter) {
  const DeviceTensor& summed = parameter.buffer ? parameter.buffer : parameter.gradient;
  tap(stage, (parameter.buffer ? "in.buffer." : "in.d.") + parameter.name, summed.data(), summed.dtype,
      parameter.master.shape);
  return summed;
}

Parameter& Run::parameter(std::string_view name) {
  for (std::deque<Parameter>* all : {&parameters, &frozen})
    if (const auto found = std::ranges::find(*all, name, &Parameter::name); found != all->end()) return *found;
  throw std::logic_error("no parameter '" + std::string(name) + "' in this model");
}

void Run::tap(const char* stage, const std::string& tensor, const DeviceTensor& value) {
  tap(stage, tensor, value.data(), value.dtype, value.shape);
}

void Run::tap(const char* stage, const std::string& tensor, void* address, Dtype dtype,
              std::vector<std::int64_t> shape) {
  if (!options.taps) return;
  Tensor value(dtype, std::move(shape));
  device.read(address, value.bytes.data(), value.bytes.size());
  TapName name = this->name(stage, tensor);
  const Tensor* followed = options.follow == nullptr ? nullptr : options.follow->find(name.view());
  note_tap(name);
  if (followed != nullptr && followed->dtype == value.dtype && followed->shape == value.shape)
    device.write(address, followed->bytes.data(), followed->bytes.size());
  trace.add(std::move(name), std::move(value));
}

void Run::record(const char* stage, const std::string& tensor, const DeviceTensor& value) {
  trace.add(name(stage, tensor), value.read());
}

void Run::tap(const char* stage, const std::string& tensor, float number) {
  if (!options.taps) return;
  Tensor value(Dtype::fp32, {});
  value.set(0, static_cast<double>(number));
  trace.add(name(stage, tensor), std::move(value));
}

void Run::tap(const char* stage, const std::string& tensor, std::int64_t number) {
  if (!options.taps) return;
  Tensor value(Dtype::i64, {});
  value.set_bits(0, static_cast<std::uint64_t>(number));
  trace.add(name(stage, tensor), std::move(value));
}

void tap_indices(Run& run, const char* stage, const LayerState& layer, int k) {
  const std::vector<std::int64_t> shape{run.rows(k)};
  if (layer.reads_tokens) run.tap(stage, "in.tokens", run.x_of(layer, k), Dtype::i64, shape);
  if (layer.reads_positions) run.tap(stage, "in.positions", run.positions.row(run.first_row(k)), Dtype::i64, shape);
}

namespace {

constexpr std::uint64_t odd = 0x9e3779b97f4a7c15ULL;

/// As BLAS does, which picks its algorithm by the shape of the call.
std::uint64_t order_by_shape(const Case& c, const GemmCall& call) {
  if (c.execution.order == 0) return 0;
  auto seed = static_cast<std::uint64_t>(c.execution.order);
  for (const std::int64_t part : {call.m, call.n, call.k, std::int64_t{call.transpose_a} * 2 + call.transpose_b}) {
    seed = (seed ^ seed >> 29) * odd + static_cast<std::uint64_t>(part);
  }
  return seed | 1;
}

std::uint64_t order_by_number(const Run& run) { return run.options.order_seed * odd + run.products; }

}  // namespace

void Run::gemm(GemmCall call, Dtype result) {
  call.operands = c.precision.storage;
  call.result = result;
  call.compute = c.precision.compute;
  call.tf32 = c.precision.tf32;
  call.choices = products_by.choices;
  ++products;
  const std::uint64_t seed = options.order_seed == 0 ? order_by_shape(c, call) : order_by_number(*this);
  stages.gemm(*this, call, products_by.tensor_core ? GemmOrder{*products_by.tensor_core, 0} : GemmOrder::draw(seed));
}

void stage::gemm(Run& run, const GemmCall& call, const GemmOrder& order) { tally::gemm(run.stream, call, order); }

const LayerSteps& layer_steps(const std::string& kind) {
  const LayerSteps* const steps = RegisterKind<LayerSteps>::find(kind);
  return steps == nullptr ? elementwise_steps : *steps;
}

}  // namespace tally
