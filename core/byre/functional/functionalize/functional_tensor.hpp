// SPDX-License-Identifier: BSL-1.0
/// FunctionalTensor: a tensor under the pass. It has a value of its own until a view is made of it; then
/// it is itself a View: a path from the base of an Alias, the value that was seen there last, and the
/// generation of that.
///
/// Source: the seed "Functionalization".
#pragma once

#include <byre/functional/functionalize/alias.hpp>

#include <boost/thread/mutex.hpp>
#include <cstdint>
#include <optional>

namespace byre::inline v0::functional {

/// Something is written that must not be: a tensor that a function captured, one with views that would
/// be left behind.
class FunctionalizeError : public Error {
 public:
  using Error::Error;
};

/// Thread-safety: value() and path() are reads, also where they apply updates or make the alias; all else
/// writes, and excludes what is done to the tensors it may alias.
class FunctionalTensor final : public TensorImpl {
 public:
  static constexpr Key key = Key::functionalize;
  using AliasHandle = boost::intrusive_ptr<Alias>;

  /// Of a value that nothing aliases.
  explicit FunctionalTensor(AnyTensor value);
  /// A view.
  FunctionalTensor(const AliasHandle& alias, ViewPath path);
  ~FunctionalTensor() override;

  Dims sizes() const override { return path_.window().layout.sizes; }
  DType dtype() const override { return path_.window().dtype; }
  const ViewPath& path() const noexcept { return path_; }

  /// What it holds now: a tensor of the backend, which never changes. Applies the updates of its alias
  /// if that was written since, and sees them anew. Throws what the operators throw that it calls.
  AnyTensor value();
  /// The generation of the value it saw last; that of its alias if it is up to date.
  std::uint64_t generation() const noexcept;
  /// Where factories make what is written to it.
  KeySet backend() const noexcept { return backend_; }
  /// Of the innermost vmap whose batch may be written to it: one that it is seen outside of may not.
  BatchLevel batch_level() const noexcept { return level_; }

  /// Made now, if there is none.
  AliasHandle alias();
  /// The same; null if there is none.
  AliasHandle alias_if_any() const noexcept;

  /// Throws FunctionalizeError if nobody would see what is written, ShapeError if elements are seen
  /// twice; makes room for the update, one of `writes` to tensors that may share its alias.
  void prepare_write(const char* operation, std::size_t writes = 1);
  /// It holds `value` now, of its sizes and dtype. After prepare_write().
  void write(AnyTensor value) noexcept;

  /// It sees another part of its alias now: transpose_, resize_ to fewer elements.
  void move_to(ViewPath path) noexcept;
  /// It is a view of another's alias now, or has another value alone: set_, resize_ to more elements.
  void set(const AliasHandle& alias, ViewPath path) noexcept;
  void set(AnyTensor value, ViewPath path) noexcept;
  /// Whether it was set to a value, and left what memory it was given.
  bool has_grown() const noexcept { return has_grown_; }

 private:
  /// From now on.
  void see(AliasHandle alias, ViewPath path, AnyTensor value = {}) noexcept;

  KeySet backend_;
  BatchLevel level_;
  bool has_grown_ = false;
  std::optional<ViewPath> prepared_;  // a copy of the path, for the write that cannot fail
  ViewPath path_;                     // written by writes alone
  mutable boost::mutex mutex_;        // of all below
  AliasHandle alias_;
  Sight sight_;  // of all there is, where there is no alias
};

/// A tensor of the pass that holds `value`, one of a backend.
AnyTensor to_functional(AnyTensor value);

/// What a tensor of the pass holds now, and any other tensor as it is.
AnyTensor from_functional(const AnyTensor& tensor);

/// Whether what is written to one may show in the other: they are one tensor, or have one storage of the
/// CPU, or one alias of the pass.
bool share_memory(const AnyTensor& a, const AnyTensor& b);

}  // namespace byre::inline v0::functional
