// SPDX-License-Identifier: BSL-1.0
/// Alias: what the tensors that may alias each other have in common: the value of their base, and the
/// updates that were put to views of it and not yet brought back.
///
/// Invariants, whenever the lock is free:
///   1. The base with all updates put back, in their order, is what a base in memory would hold.
///   2. The generation is the number of writes there were; it never falls.
///   3. There are fewer than most_updates updates, none of which sees all of the base but the first, and
///      no two of which have the same window.
///
/// Source: the seed "Functionalization"; that updates of one place replace one another, torch_xla.
#pragma once

#include <byre/functional/functionalize/options.hpp>
#include <byre/functional/functionalize/view_path.hpp>

#include <boost/thread/mutex.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace byre::inline v0::functional {

/// Thread-safety: of views, logically, as of a storage: reads at once, a write alone. A read may apply
/// updates, and so all of it is under a lock, also the kernels that apply them: a second reader waits
/// for the elements it needs anyway. Nothing it calls comes back to an alias.
class Alias final : public Counted {
 public:
  /// Past so many updates they are applied: a write then costs what reading would have cost.
  static constexpr std::size_t most_updates = 64;

  struct Version {
    AnyTensor base;
    std::uint64_t generation;
  };

  Alias(AnyTensor base, FunctionalizeOptions options);

  std::uint64_t generation() const noexcept;
  /// The base, with all that was written to it. Throws what the inverses throw; the updates that were
  /// not applied are there still.
  Version current();
  /// Makes room for so many updates, by applying those there are where there are too many. Throws as current().
  void prepare_updates(std::size_t count);
  /// `value` was written where `path` sees it; answers the generation this makes. After
  /// prepare_updates(), and no writes since but those it was for.
  std::uint64_t update(ViewPath path, AnyTensor value) noexcept;

  /// How many updates wait. For tests, and people.
  std::size_t pending_updates() const noexcept;
  /// How many tensors are views of it, the base's own among them, which say so.
  std::size_t tensor_count() const noexcept;
  void add_tensor() noexcept;
  void drop_tensor() noexcept;

  /// The keys of the base.
  KeySet backend() const noexcept { return backend_; }
  Remove removes() const noexcept { return remove_; }
  bool has_strides_alone() const noexcept { return strides_; }
  /// What was captured from outside: nobody would see what is written to it. Before it is shared.
  void freeze() noexcept { is_frozen_ = true; }
  bool is_frozen() const noexcept { return is_frozen_; }

 private:
  struct Update {
    ViewPath path;
    AnyTensor value;
  };

  void apply_updates();

  const KeySet backend_;
  const Remove remove_;
  const bool strides_;
  bool is_frozen_ = false;
  mutable boost::mutex mutex_;  // of all below
  AnyTensor base_;
  std::vector<Update> updates_;  // in the order they were made
  std::uint64_t generation_ = 0;
  std::size_t tensors_ = 0;
};

}  // namespace byre::inline v0::functional
