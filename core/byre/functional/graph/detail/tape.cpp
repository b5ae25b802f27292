// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/graph/detail/tape.hpp>

namespace byre::inline BYRE_ABI::functional::detail {
void intrusive_ptr_release(TapeNode* node) noexcept {
  const CountedPtr<Tape> tape = node->tape_;  // `node` may hold the last handle to the tape
  tape->release(node);
}

CountedPtr<TapeNode> Tape::append(std::unique_ptr<TapeNode> node) noexcept {
  node->tape_ = this;
  const sync::Lock lock(mutex_);
  node->previous_ = last_;
  (last_ == nullptr ? first_ : last_->next_) = node.get();
  last_ = node.get();
  ++node_count_;
  return {node.release(), false};
}

CountedPtr<TapeNode> Tape::add_input(GraphInput input) {
  auto node = std::make_unique<TapeNode>();
  node->results.push_back(input.meta);
  {
    const sync::Lock lock(mutex_);
    node->input = static_cast<std::uint32_t>(inputs_.size());
    inputs_.push_back(std::move(input));
  }
  return append(std::move(node));
}

/// Handles are dropped under the lock, so every node that another thread finds under the lock has a
/// handle. Nodes are destroyed without the lock and in a loop: recursion over a long chain would
/// overflow the stack.
void Tape::release(TapeNode* node) noexcept {
  TapeNode* dead = nullptr;
  {
    const sync::Lock lock(mutex_);
    TapeNode** dead_end = &dead;
    const auto drop = [this, &dead_end](TapeNode* dropped) {
      if (dropped->handles_.drop()) {
        unlink(dropped);
        *dead_end = dropped;
        dead_end = &dropped->next_;
      }
    };
    drop(node);
    for (TapeNode* each = dead; each != nullptr; each = each->next_) {
      for_each_operand(*each, [&drop](RecordedValue& operand) { drop(operand.node.detach()); });
    }
  }
  while (dead != nullptr) {
    const std::unique_ptr<TapeNode> destroyed(dead);
    dead = dead->next_;
  }
}

void Tape::unlink(TapeNode* node) noexcept {
  (node->previous_ == nullptr ? first_ : node->previous_->next_) = node->next_;
  (node->next_ == nullptr ? last_ : node->next_->previous_) = node->previous_;
  node->next_ = nullptr;
  --node_count_;
}

Graph Tape::capture(std::span<const RecordedValue> outputs) const {
  const auto id_of = [](const RecordedValue& value) {
    return ValueId{value.node->first_result_ + value.result};
  };
  const sync::Lock lock(mutex_);
  Graph graph;
  graph.inputs = inputs_;
  auto next = static_cast<std::uint32_t>(inputs_.size());
  for (TapeNode* node = first_; node != nullptr; node = node->next_) {
    if (node->input) {
      node->first_result_ = *node->input;
      continue;
    }
    node->first_result_ = next;
    next += static_cast<std::uint32_t>(node->results.size());
    GraphNode& captured =
        graph.nodes.emplace_back(GraphNode{node->op, {}, node->constant, node->results});
    for (const BasicArgument<RecordedValue>& argument : node->arguments) {
      captured.arguments.push_back(with_tensors<ValueId>(argument, id_of));
    }
  }
  for (const RecordedValue& output : outputs) {
    graph.outputs.push_back(id_of(output));
  }
  return graph;
}

std::size_t Tape::node_count() const noexcept {
  const sync::Lock lock(mutex_);
  return node_count_;
}

}  // namespace byre::inline BYRE_ABI::functional::detail
