// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/functional/graph/detail/graph_backend.hpp>
#include <byre/functional/graph/recording.hpp>

namespace byre::inline v0::functional {
namespace {

/// The one that the arguments are of, or, if they have no tensors of the graph, this thread's.
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

}  // namespace

void detail::define_graph_backend() {
  set_fallback(Key::graph, [](const Call& call) { return recording_of(call).record(call); });
}

}  // namespace byre::inline v0::functional
