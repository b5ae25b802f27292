// SPDX-License-Identifier: BSL-1.0
/// A FunctionalTensor is a tensor of the functionalize pass. It holds its value itself until a view
/// of it is created. Then it becomes a view too: it consists of a path from the base of an Alias,
/// and of the value at its last use.
///
/// Source: the design note "Functionalization".
#pragma once

#include <byre/functional/functionalize/detail/alias.hpp>
#include <byre/functional/functionalize/functional_tensor.hpp>
#include <byre/sync/detail/published.hpp>

#include <cstdint>
#include <optional>

namespace byre::inline BYRE_ABI::functional {

/// Thread-safety: const members, sync() and alias() are reads and may run concurrently. All other
/// members are writes: the caller must not run them concurrently with any use of a tensor that may
/// alias this one.
class FunctionalTensor final : public TensorImpl {
 public:
  static constexpr Key key = Key::functionalize;
  using AliasHandle = CountedPtr<Alias>;

  /// A write whose fallible steps are done: commit() completes it.
  class PreparedWrite {
   public:
    /// Sets the tensor to `value`. Call this once. Requires that `value` has the tensor's sizes and
    /// dtype, and that the tensor was not changed since prepare_write().
    void commit(AnyTensor value) noexcept {
      Alias* const alias = target_->alias_.get();
      BYRE_ASSERT((alias != nullptr) == path_.has_value(),
                  "the tensor got an alias after prepare_write()");
      if (path_) {
        alias->write(std::move(*path_), std::move(value), target_->cached_);
      } else {
        target_->cached_.initial = std::move(value);
      }
    }

   private:
    friend class FunctionalTensor;
    PreparedWrite(FunctionalTensor& target, std::optional<ViewPath> path) noexcept
        : target_(&target), path_(std::move(path)) {}

    FunctionalTensor* target_;
    std::optional<ViewPath> path_;  // empty if the tensor has no alias
  };

  /// Requires that no other tensor aliases `value`.
  explicit FunctionalTensor(AnyTensor value);
  /// Creates a view.
  FunctionalTensor(const AliasHandle& alias, ViewPath path);
  ~FunctionalTensor() override;

  Dims sizes() const override { return path_.geometry().layout.sizes; }
  DType dtype() const override { return path_.geometry().dtype; }
  const ViewPath& path() const noexcept { return path_; }

  /// Returns the current value: see from_functional().
  AnyTensor sync() {
    Alias* const alias = alias_.get();
    return alias == nullptr ? cached_.initial : alias->sync(path_, cached_);
  }
  /// The backend on which factories create operands for this tensor.
  KeySet backend() const noexcept { return backend_; }
  /// The level of the innermost vmap() whose batch may be written to this tensor. A tensor from
  /// outside a vmap() cannot take a value of that vmap()'s batch.
  BatchLevel writable_level() const noexcept { return level_; }

  /// Returns the alias, and creates it at the first call.
  AliasHandle alias();
  /// Returns the alias, or null.
  AliasHandle alias_if_any() const noexcept { return alias_.get(); }

  /// Prepares one of `count` writes that may share an alias. Throws FunctionalizeError if the
  /// tensor was captured, ShapeError if it sees an element twice.
  [[nodiscard]] PreparedWrite prepare_write(const char* operation, std::size_t count = 1) {
    Alias* const alias = alias_.get();
    if (alias == nullptr) {
      return {*this, std::nullopt};
    }
    alias->prepare_write(path_, operation, count);
    return {*this, path_};
  }

  /// Makes the tensor another view of its alias, as transpose_ and resize_ to fewer elements do.
  void move_to(ViewPath path) noexcept { set(alias_.get(), std::move(path)); }
  /// Makes the tensor a view of another alias, as set_ does.
  void set(const AliasHandle& alias, ViewPath path) noexcept;
  /// Detaches the tensor from its alias and sets its value, as resize_ to more elements does.
  void set(AnyTensor value, ViewPath path) noexcept;
  /// Whether resize_ gave the tensor a new value, which is not in the memory of the program's
  /// input.
  bool has_grown() const noexcept { return has_grown_; }

 private:
  void attach(AliasHandle alias) noexcept;
  void detach() noexcept;

  KeySet backend_;
  BatchLevel level_;
  bool has_grown_ = false;
  ViewPath path_;  // changed only by writes
  /// Null until a view of the tensor is created. The creation of the first view, which counts as a
  /// read, sets this pointer; later only writes change it. The tensor owns a handle to the alias.
  sync::detail::Published<Alias> alias_;
  CachedView cached_;  // guarded by the alias's lock; without an alias only `initial` is used
};

}  // namespace byre::inline BYRE_ABI::functional
