// SPDX-License-Identifier: BSL-1.0
/// FunctionalTensor: a tensor under the pass. It has a value of its own until a view is made of it.
/// Then it is itself a view: a path from the base of an Alias, and the value it held when it was
/// used last.
///
/// Source: the seed "Functionalization".
#pragma once

#include <byre/functional/functionalize/detail/alias.hpp>
#include <byre/functional/functionalize/functional_tensor.hpp>
#include <byre/sync/detail/published.hpp>

#include <cstdint>
#include <optional>

namespace byre::inline v0::functional {

/// Thread-safety: sync(), path() and alias() are reads, and may run at once. All else is a write,
/// and excludes what is done to any tensor that this may alias.
class FunctionalTensor final : public TensorImpl {
 public:
  static constexpr Key key = Key::functionalize;
  using AliasHandle = boost::intrusive_ptr<Alias>;

  /// What may fail of a write was done: commit() ends it.
  class PreparedWrite {
   public:
    /// The tensor holds `value` now, of its sizes and dtype. Once; the tensor was not changed
    /// since.
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
    std::optional<ViewPath> path_;  // none: the tensor has no alias
  };

  /// Of a value that nothing aliases.
  explicit FunctionalTensor(AnyTensor value);
  /// A view.
  FunctionalTensor(const AliasHandle& alias, ViewPath path);
  ~FunctionalTensor() override;

  Dims sizes() const override { return path_.geometry().layout.sizes; }
  DType dtype() const override { return path_.geometry().dtype; }
  const ViewPath& path() const noexcept { return path_; }

  /// What it holds now: see from_functional().
  AnyTensor sync() {
    Alias* const alias = alias_.get();
    return alias == nullptr ? cached_.initial : alias->sync(path_, cached_);
  }
  /// Where factories make what is written to it.
  KeySet backend() const noexcept { return backend_; }
  /// Of the innermost vmap() whose batch may be written to it. A tensor that is used outside of a
  /// vmap() takes no value of its batch.
  BatchLevel writable_level() const noexcept { return level_; }

  /// Made now, if there is none.
  AliasHandle alias();
  /// The same; null if there is none.
  AliasHandle alias_if_any() const noexcept { return alias_.get(); }

  /// For one of `count` writes that may share an alias. Throws FunctionalizeError for a captured
  /// tensor, ShapeError for one that sees elements twice.
  [[nodiscard]] PreparedWrite prepare_write(const char* operation, std::size_t count = 1) {
    Alias* const alias = alias_.get();
    if (alias == nullptr) {
      return {*this, std::nullopt};
    }
    alias->prepare_write(path_, operation, count);
    return {*this, path_};
  }

  /// It sees another part of its alias now: transpose_, resize_ to fewer elements.
  void move_to(ViewPath path) noexcept { set(alias_.get(), std::move(path)); }
  /// It is a view of another alias now: set_.
  void set(const AliasHandle& alias, ViewPath path) noexcept;
  /// It has a value of its own now: resize_ to more elements.
  void set(AnyTensor value, ViewPath path) noexcept;
  /// Whether it was set to a value, and so left the memory of its input.
  bool has_grown() const noexcept { return has_grown_; }

 private:
  void attach(AliasHandle alias) noexcept;
  void detach() noexcept;

  KeySet backend_;
  BatchLevel level_;
  bool has_grown_ = false;
  ViewPath path_;  // changed by writes alone
  /// Null until a view is made, then set once by a read; changed by writes alone after that. Owned.
  sync::detail::Published<Alias> alias_;
  CachedView cached_;  // the alias's lock guards it; without an alias, only `initial` is used
};

}  // namespace byre::inline v0::functional
