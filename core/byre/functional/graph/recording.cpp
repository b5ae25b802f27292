// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/functional/dispatch/scanner.hpp>
#include <byre/functional/graph/detail/graph_backend.hpp>
#include <byre/functional/graph/recording.hpp>

#include <new>
#include <utility>

namespace byre::inline BYRE_ABI::functional {
namespace {

using detail::RecordedValue;
using detail::Tape;
using detail::TapeNode;

thread_local const Recording* current_of_thread = nullptr;

void expect_dtype(DType dtype, const char* operation) {
  if (dtype == DType::uninitialized) {
    byre::detail::refuse_uninitialized_dtype(operation, dtype);
  }
}

CountedPtr<TapeNode> append_constant(Tape& tape, const Tensor& tensor) {
  expect_dtype(tensor.dtype(), "constant");
  auto node = std::make_unique<TapeNode>();
  node->constant = tensor.lazy_clone();
  node->results.push_back({tensor.sizes(), tensor.dtype()});
  return tape.append(std::move(node));
}

RecordedValue value_of(const AnyTensor& tensor, Tape& tape) {
  if (const auto* const on_cpu = tensor.as<CpuTensor>()) {
    return {append_constant(tape, on_cpu->value)};
  }
  const auto* const recorded = tensor.as<GraphTensor>();
  if (recorded == nullptr) {
    throw GraphError(format_text(
        "cannot record a tensor of %s. Call operators on tensors of one recording, and of the CPU.",
        tensor ? to_string(tensor.keys()).c_str() : "no backend"));
  }
  if (!tape.contains(recorded->value())) {
    throw GraphError(
        format_text("cannot record a tensor of another recording, %s. Use one recording, or "
                    "capture and execute the other first.",
                    describe(tensor).c_str()));
  }
  return recorded->value();
}

void expect_recordable(const Operator& op, const Tape& tape) {
  const Effect effect = op.effect();
  if (effect == Effect::write || (effect == Effect::view && !tape.records_views)) {
    throw GraphError(format_text(
        "%s %s, a graph requires pure operators: %s. Functionalize the program: "
        "the pass removes views and writes.",
        op.name().c_str(), effect == Effect::write ? "writes its arguments" : "makes a view",
        to_string(op.schema()).c_str()));
  }
}

std::vector<TensorMeta> metas_of(const Call& call) {
  if (call.op.view() == nullptr) {
    return meta_of_results(call);
  }
  const AnyTensor& self = call.arguments.front().tensor();
  std::vector<TensorMeta> metas;
  for (ViewGeometry& geometry : (*call.op.view())(ViewGeometry::of_all(self.sizes(), self.dtype()),
                                                  call.arguments.subspan(1))) {
    metas.push_back({std::move(geometry.layout.sizes), geometry.dtype});
  }
  return metas;
}

/// Returns the recording of the graph tensors among the arguments. If no argument is a graph
/// tensor, returns the current recording of this thread.
Recording recording_of(const Call& call) {
  AnyTensor recorded;
  for (const Argument& argument : call.arguments) {
    argument.for_each_tensor([&recorded](const AnyTensor& tensor) {
      if (tensor.as<GraphTensor>() != nullptr) {
        recorded = tensor;
      }
    });
  }
  return recorded ? Recording::of(recorded) : Recording::current();
}

bool is_identifier(const std::string& name) {
  Scanner scanner(name, "name");
  return scanner.is_at_identifier() && scanner.identifier("a name") == name;
}

}  // namespace

Recording::Recording(Views views) : tape_(make_counted<Tape>(views == Views::recorded)) {}

Recording::Recording(CountedPtr<Tape> tape) noexcept : tape_(std::move(tape)) {}

Recording Recording::of(const AnyTensor& tensor) {
  if (const auto* const recorded = tensor.as<GraphTensor>()) {
    return Recording(Tape::of(recorded->value()));
  }
  throw DeviceError(format_text(
      "Recording::of: a tensor of %s belongs to no recording. Use one from input() or constant().",
      tensor ? to_string(tensor.keys()).c_str() : "no backend"));
}

Recording Recording::current() {
  if (current_of_thread == nullptr) {
    throw GraphError(
        format_text("cannot record an operator without graph tensors: this thread has no current "
                    "recording. Call it within a RecordingScope."));
  }
  return *current_of_thread;
}

AnyTensor Recording::input(const Dims& sizes, DType dtype, std::string name) const try {
  if (!name.empty() && !is_identifier(name)) {
    throw InvalidArgument(
        format_text("input: invalid name '%s'. Use letters, digits and _.", name.c_str()));
  }
  expect_dtype(dtype, "input");
  TensorMeta meta{contiguous_layout(sizes, "input").sizes, dtype};
  auto made = make_counted<GraphTensor>();  // created first: if this throws, no input was added
  made->assign({tape_->add_input({std::move(meta), std::move(name)})});
  return made;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("input");
}

AnyTensor Recording::constant(const Tensor& tensor) const try {
  const AnyTensor on_cpu = from_cpu(tensor);  // throws if `tensor` is empty
  return make_counted<GraphTensor>(RecordedValue{append_constant(*tape_, to_cpu(on_cpu))});
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("constant");
}

Tensors Recording::record(const Call& call) const try {
  expect_recordable(call.op, *tape_);
  auto node = std::make_unique<TapeNode>();
  node->op = &call.op;
  for (const Argument& argument : call.arguments) {
    node->arguments.push_back(detail::with_tensors<RecordedValue>(
        argument.held(), [this](const AnyTensor& tensor) { return value_of(tensor, *tape_); }));
  }
  node->results = metas_of(call);
  for (const TensorMeta& meta : node->results) {
    expect_dtype(meta.dtype, call.op.name().c_str());
  }
  if (node->results.empty()) {
    return {};  // without a result, no tensor would own the node
  }
  const CountedPtr<TapeNode> recorded = tape_->append(std::move(node));
  Tensors results;
  for (std::uint32_t index = 0; index < recorded->results.size(); ++index) {
    results.push_back(make_counted<GraphTensor>(RecordedValue{recorded, index}));
  }
  return results;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap(call.op.name().c_str());
}

Graph Recording::capture(const Tensors& outputs) const try {
  std::vector<RecordedValue> values;
  for (const AnyTensor& output : outputs) {
    values.push_back(value_of(output, *tape_));
  }
  return tape_->capture(values);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("capture");
}

std::size_t Recording::node_count() const noexcept {
  return tape_->node_count();
}

RecordingScope::RecordingScope(Recording recording) noexcept
    : recording_(std::move(recording)), before_(std::exchange(current_of_thread, &recording_)) {}

RecordingScope::~RecordingScope() {
  current_of_thread = before_;
}

void detail::define_graph_backend() {
  set_fallback(Key::graph, [](const Call& call) { return recording_of(call).record(call); });
}

}  // namespace byre::inline BYRE_ABI::functional
