// SPDX-License-Identifier: BSL-1.0
/// A Tape holds the living nodes of a recording, in creation order. A node lives as long as a
/// tensor or a later node uses its results, so a loop that overwrites its results leaves no nodes
/// behind.
#pragma once

#include <byre/config.hpp>
#include <byre/functional/graph/graph.hpp>
#include <byre/sync/counted_ptr.hpp>
#include <byre/sync/detail/mutex.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace byre::inline BYRE_ABI::functional::detail {

struct TapeNode;
class Tape;

/// A result of a node. It owns a handle to the node.
struct RecordedValue {
  CountedPtr<TapeNode> node;
  std::uint32_t result = 0;

  const TensorMeta& meta() const noexcept;
};

/// Immutable once it is on a tape, except members that the tape's lock guards.
struct TapeNode : BasicNode<RecordedValue> {
  /// The index of the input if the node is an input. An input node has no op.
  std::optional<std::uint32_t> input;

 private:
  friend class Tape;
  friend void intrusive_ptr_add_ref(TapeNode* node) noexcept { node->handles_.add(); }
  friend void intrusive_ptr_release(TapeNode* node) noexcept;

  CountedPtr<Tape> tape_;
  basic_ref_count<sync::Default> handles_;  // starts with the handle that append() returns
  // Guarded by the tape's lock:
  TapeNode* previous_ = nullptr;
  TapeNode* next_ = nullptr;
  std::uint32_t first_result_ = 0;  // number of the node's first result in the graph being captured
};

/// Thread-safe.
class BYRE_API Tape final : public Counted {
 public:
  explicit Tape(bool with_views) noexcept : records_views(with_views) {}

  const bool records_views;

  CountedPtr<TapeNode> append(std::unique_ptr<TapeNode> node) noexcept;
  CountedPtr<TapeNode> add_input(GraphInput input);
  bool contains(const RecordedValue& value) const noexcept { return value.node->tape_ == this; }
  static CountedPtr<Tape> of(const RecordedValue& value) noexcept { return value.node->tape_; }

  /// Returns the graph of all living nodes.
  Graph capture(std::span<const RecordedValue> outputs) const;
  /// The number of living nodes, including inputs.
  std::size_t node_count() const noexcept;

 private:
  friend void intrusive_ptr_release(TapeNode* node) noexcept;

  void release(TapeNode* node) noexcept;
  void unlink(TapeNode* node) noexcept;

  mutable sync::Mutex mutex_;
  TapeNode* first_ = nullptr;
  TapeNode* last_ = nullptr;
  std::size_t node_count_ = 0;
  std::vector<GraphInput> inputs_;
};

inline const TensorMeta& RecordedValue::meta() const noexcept {
  return node->results[result];
}

}  // namespace byre::inline BYRE_ABI::functional::detail
