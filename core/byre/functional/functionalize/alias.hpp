// SPDX-License-Identifier: BSL-1.0
/// Alias: what the tensors that may alias each other have in common: the value of their base, and the
/// updates that were put to views of it and not yet brought back.
///
/// Invariants, whenever the lock is free:
///   1. The base with all updates put back, in their order, is what a base in memory would hold.
///   2. The generation is the number of writes there were; it never falls.
///   3. There are fewer updates than AliasBounds said when it was made, none of which sees all of the
///      base but the first, and no two of which have the same window.
///   4. A sight that a link knows is that of a living tensor whose path ends there. One of the alias's
///      generation is what would be replayed from the base.
///   5. Outside of the windows of updates, and of those that were applied, the base is what it began as,
///      unless all of it is said to be written.
///
/// Source: the seed "Functionalization"; that updates of one place replace one another, torch_xla.
#pragma once

#include <byre/functional/batching/batched_tensor.hpp>
#include <byre/functional/functionalize/options.hpp>
#include <byre/functional/functionalize/view_path.hpp>

#include <boost/thread/mutex.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace byre::inline v0::functional {

namespace detail {

/// How much the aliases keep that a thread makes from now on, and how often its writes met that: a test
/// may make it little.
struct AliasBounds {
  std::size_t updates = 64;  ///< at so many they are applied: a write then costs what reading would
  std::size_t windows = 64;  ///< past so many that were written, all of the base is said to be
  std::size_t updates_met = 0;
  std::size_t windows_met = 0;
};

AliasBounds& alias_bounds() noexcept;

}  // namespace detail

/// Thread-safety: of views, logically, as of a storage: reads at once, a write alone. A read may apply
/// updates, and so all of it is under a lock, also the kernels that apply them: a second reader waits
/// for the elements it needs anyway. Views are replayed without it, and handed out with it. Nothing it
/// calls comes back to an alias.
class Alias final : public Counted {
 public:
  struct Version {
    AnyTensor base;
    std::uint64_t generation;
  };
  /// A part of the base, and what it holds now.
  struct Part {
    Window window;
    AnyTensor value;
  };

  /// `level` is of the innermost vmap whose batch may be written to it.
  explicit Alias(AnyTensor base, FunctionalizeOptions options = {}, BatchLevel level = 0);

  std::uint64_t generation() const noexcept;
  /// The base, with all that was written to it. Throws what the inverses throw; the updates that were
  /// not applied are there still.
  Version current();
  /// What a tensor sees now along `path`; `sight` is its own. Begins at the nearest view on the path that
  /// was seen in this generation, or at the base, and has every tensor on the way see its part: in one
  /// generation no link is replayed twice at which a living tensor ends. Throws as current(), and what
  /// views throw that are replayed.
  AnyTensor see(const ViewPath& path, Sight& sight);
  /// The generation in which a tensor saw it last.
  std::uint64_t generation_of(const Sight& sight) const noexcept;
  /// From now on it is known which parts are written. Before it is shared.
  void watch_writes() noexcept { is_all_applied_ = false; }
  /// What the base was when that began, with these written over it, one after the other, is what it is
  /// now. No update is applied for it. Throws what views throw that are replayed.
  std::vector<Part> written_parts();
  /// Their windows alone.
  std::vector<Window> written_windows() const;
  /// Makes room for so many updates, by applying those there are where there are too many. Throws as
  /// current().
  void prepare_updates(std::size_t count);
  /// `value` was written where `path` sees it, by the tensor whose `sight` it is: a generation more.
  /// After prepare_updates(), and no writes since but those it was for.
  void update(ViewPath path, AnyTensor value, Sight& sight) noexcept;

  /// How many updates wait. For tests, and people.
  std::size_t pending_updates() const noexcept;
  /// How many tensors are views of it, the base's own among them, which say so.
  std::size_t tensor_count() const noexcept;
  /// A tensor that sees it along `path` into `sight`, until it is dropped.
  void add_tensor(const ViewPath& path, Sight& sight) noexcept;
  void drop_tensor(const ViewPath& path, const Sight& sight) noexcept;
  /// One that is seen elsewhere, for as long as there is this.
  void add_tensor_elsewhere() noexcept;

  /// The keys of the base.
  KeySet backend() const noexcept { return backend_; }
  Remove removes() const noexcept { return remove_; }
  bool has_strides_alone() const noexcept { return strides_; }
  BatchLevel batch_level() const noexcept { return level_; }
  /// Of what was captured from outside: nobody would see what is written to it. Before it is shared.
  void freeze(AnyTensor captured) noexcept { captured_ = std::move(captured); }
  bool is_frozen() const noexcept { return bool(captured_); }
  /// What it was made of, if it is frozen.
  const AnyTensor& captured() const noexcept { return captured_; }

 private:
  struct Update {
    ViewPath path;
    AnyTensor value;
  };

  bool is_current(const Sight& sight) const noexcept;
  /// And the base, once updates are put back, says the same.
  bool is_what_the_base_holds(const Sight& sight) const noexcept;
  /// The base, with all updates.
  const AnyTensor& up_to_date();
  /// Where to begin to see along `path`, and `links` to go from there, the last one first.
  AnyTensor nearest(const ViewPath& path, std::vector<const ViewLink*>& links);
  void apply_updates();
  void note_applied(ViewPath path) noexcept;
  bool is_overwritten(const ViewPath& path) const noexcept;

  const KeySet backend_;
  const Remove remove_;
  const bool strides_;
  const BatchLevel level_;
  const std::size_t most_updates_ = detail::alias_bounds().updates;
  const std::size_t most_windows_ = detail::alias_bounds().windows;
  AnyTensor captured_;
  mutable boost::mutex mutex_;  // of all below
  AnyTensor base_;
  bool is_all_applied_ = true;     // all of the base is said to be written: nobody asks, at first
  std::vector<ViewPath> applied_;  // where updates were that are in the base, each once
  std::vector<Update> updates_;    // in the order they were made
  std::uint64_t generation_ = 0;
  std::size_t tensors_ = 0;
};

}  // namespace byre::inline v0::functional
