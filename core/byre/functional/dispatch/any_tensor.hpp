// SPDX-License-Identifier: BSL-1.0
/// AnyTensor: a handle to a tensor of any backend, or of a pass that wraps tensors. Its keys name
/// the backend or pass, and the operators that are registered for these keys operate on it.
#pragma once

#include <byre/config.hpp>
#include <byre/error/detail/assert.hpp>
#include <byre/error/error.hpp>
#include <byre/functional/dispatch/key.hpp>
#include <byre/sync/boost.hpp>
#include <byre/sync/detail/ref_count.hpp>
#include <byre/tensor/dims.hpp>
#include <byre/tensor/dtype.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdint>
#include <functional>
#include <new>
#include <utility>
#include <vector>

namespace byre::inline v0::functional {

/// Base of the objects that boost::intrusive_ptr holds here: it counts their handles.
class BYRE_API Counted {
 public:
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  /// An acquire load: a caller that reads 1 owns the only handle. Cost: O(1).
  std::uint32_t handle_count() const noexcept { return handles_.count(); }

  friend void intrusive_ptr_add_ref(const Counted* counted) noexcept { counted->handles_.add(); }
  friend void intrusive_ptr_release(const Counted* counted) noexcept {
    if (counted->handles_.drop()) {
      delete counted;
    }
  }

 protected:
  Counted() noexcept = default;
  virtual ~Counted() = default;

 private:
  mutable basic_ref_count<sync::Boost> handles_;
};

/// Allocates an Object and returns its first handle. Throws OutOfMemory.
template <class Object, class... Arguments>
boost::intrusive_ptr<Object> make_counted(Arguments&&... arguments) try {
  return boost::intrusive_ptr<Object>(new Object(std::forward<Arguments>(arguments)...), false);
} catch (const std::bad_alloc&) {
  throw OutOfMemory(sizeof(Object), "heap, for a counted object");
}

class AnyTensor;

/// The operator is unknown, has no kernel for the key, or is unsupported by the backend. The text
/// lists the registered alternatives.
class BYRE_API DispatchError : public Error {
 public:
  using Error::Error;
};

/// The vmap() call that a batch belongs to. An inner vmap() has a higher level than the outer one.
/// 0: no vmap().
using BatchLevel = std::uint64_t;

/// Base class of the tensors of a backend or a pass. `keys` contains the one key of that backend or
/// pass; AnyTensor::as() finds the derived class by this key.
class BYRE_API TensorImpl : public Counted {
 public:
  KeySet keys() const noexcept { return keys_; }
  virtual Dims sizes() const = 0;
  virtual DType dtype() const = 0;
  /// The level of the batch that this tensor is a value of.
  virtual BatchLevel batch_level() const noexcept { return 0; }
  // Where there is no memory to write, these two functions give an input its new value. They are
  // two steps, so that several tensors are rebound all or none.
  /// Returns a new tensor of this class, with one handle, that is equal to `other`, a tensor of the
  /// same backend. Throws DispatchError if the class does not support rebinding.
  virtual AnyTensor to_rebind(const AnyTensor& other) const;
  /// Makes this tensor what `prepared` was. Requires that to_rebind() made `prepared`.
  virtual void rebind(TensorImpl& prepared) noexcept;

 protected:
  explicit TensorImpl(KeySet keys) noexcept : keys_(keys) {}

 private:
  const KeySet keys_;
};

/// A handle to a tensor. A copy is another handle to the same tensor.
///
/// Thread-safety: handles as std::shared_ptr. The tensor as byre::Tensor: concurrent reads are
/// allowed, a write excludes all other uses.
class BYRE_API AnyTensor {
 public:
  /// An empty handle: it refers to no tensor. Functions that take tensors reject it with
  /// ArgumentError, as do programs and kernels that return it. Members that need a tensor, such as
  /// sizes(), end the program.
  AnyTensor() noexcept = default;
  template <class Impl>
  AnyTensor(boost::intrusive_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}  // NOLINT

  explicit operator bool() const noexcept { return impl_ != nullptr; }

  KeySet keys() const noexcept { return impl().keys(); }
  Dims sizes() const { return impl().sizes(); }
  DType dtype() const { return impl().dtype(); }
  std::size_t ndim() const { return sizes().size(); }
  std::int64_t numel() const;
  BatchLevel batch_level() const noexcept { return impl().batch_level(); }
  /// The number of handles. An acquire load: a caller that reads 1 owns the only handle.
  std::uint32_t handle_count() const noexcept { return impl().handle_count(); }

  /// True if both are handles to one tensor, or both are empty.
  friend bool operator==(const AnyTensor&, const AnyTensor&) noexcept = default;

  TensorImpl& impl() const noexcept {
    BYRE_ASSERT(impl_ != nullptr, "an empty tensor handle was used");
    return *impl_;
  }
  /// Returns the tensor as an Impl, or null if it is not one or the handle is empty. Requires
  /// `static constexpr Key key` in Impl: the key replaces RTTI, so each class of tensors needs its
  /// own.
  template <class Impl>
  Impl* as() const noexcept {
    return impl_ != nullptr && impl_->keys().has(Impl::key) ? static_cast<Impl*>(impl_.get())
                                                            : nullptr;
  }

 private:
  boost::intrusive_ptr<TensorImpl> impl_;
};

using Tensors = std::vector<AnyTensor>;

/// A function from tensors to tensors. functionalize(), vmap() and capture() transform it.
using Program = std::function<Tensors(const Tensors&)>;

}  // namespace byre::inline v0::functional
