// SPDX-License-Identifier: BSL-1.0
/// AnyTensor: a handle to a tensor of any backend, such as the CPU, or of a pass, such as
/// functionalize, that wraps tensors of a backend. The keys of the tensor name its backend or pass,
/// and select the kernels of the operators that are called on the tensor.
#pragma once

#include <byre/config.hpp>
#include <byre/error/detail/assert.hpp>
#include <byre/error/error.hpp>
#include <byre/functional/dispatch/key.hpp>
#include <byre/sync/counted_ptr.hpp>
#include <byre/sync/default.hpp>
#include <byre/sync/detail/ref_count.hpp>
#include <byre/tensor/dims.hpp>
#include <byre/tensor/dtype.hpp>

#include <cstdint>
#include <functional>
#include <new>
#include <utility>
#include <vector>

namespace byre::inline BYRE_ABI::functional {

/// Base of the objects that are owned through CountedPtr. Counts the handles to the
/// object.
class BYRE_API Counted {
 public:
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  /// Returns the number of handles. An acquire load: a caller that reads 1 owns the only handle.
  /// Cost: O(1).
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
  mutable basic_ref_count<sync::Default> handles_;
};

/// Allocates an Object and returns its first handle. Throws OutOfMemory.
template <class Object, class... Arguments>
CountedPtr<Object> make_counted(Arguments&&... arguments) try {
  return CountedPtr<Object>(new Object(std::forward<Arguments>(arguments)...), false);
} catch (const std::bad_alloc&) {
  throw OutOfMemory(sizeof(Object), "heap, for a counted object");
}

class AnyTensor;

/// An operator is unknown, has no kernel for the key, or is unsupported by the backend, or a kernel
/// does not fit its schema. The message lists registered alternatives, if there are any.
class BYRE_API DispatchError : public Error {
 public:
  using Error::Error;
};

/// Identifies the vmap() call that a batch belongs to. An inner vmap() call has a higher level than
/// the outer call. 0 means no vmap() call.
using BatchLevel = std::uint64_t;

/// Base class of the tensors of a backend or a pass. `keys` must contain only the key of that
/// backend or pass; AnyTensor::as() recognizes the derived class by this key.
class BYRE_API TensorImpl : public Counted {
 public:
  KeySet keys() const noexcept { return keys_; }
  virtual Dims sizes() const = 0;
  virtual DType dtype() const = 0;
  /// Returns the level of the batch if this tensor is a batch of vmap(), otherwise 0.
  virtual BatchLevel batch_level() const noexcept { return 0; }
  // These two functions give an input its new value if the backend has no memory to write.
  // to_rebind() may fail and rebind() cannot, so callers can rebind either all of several inputs or
  // none.
  /// Returns a new tensor of this class with the value of `other`, a tensor of the same backend.
  /// The returned handle is the tensor's only handle. Throws DispatchError if the class does not
  /// support rebinding.
  virtual AnyTensor to_rebind(const AnyTensor& other) const;
  /// Moves the value of `prepared` into this tensor. Requires that to_rebind() returned `prepared`.
  virtual void rebind(TensorImpl& prepared) noexcept;

 protected:
  explicit TensorImpl(KeySet keys) noexcept : keys_(keys) {}

 private:
  const KeySet keys_;
};

/// A handle to a tensor. A copy is another handle to the same tensor.
///
/// Thread-safety: handles follow the rules of std::shared_ptr, and tensors those of byre::Tensor:
/// threads may read a tensor concurrently, but the caller must not run a write concurrently with
/// any other use of the tensor.
class BYRE_API AnyTensor {
 public:
  /// Creates an empty handle, which refers to no tensor. Functions that take tensors reject an
  /// empty handle with ArgumentError. Empty handles that programs or kernels return are rejected
  /// too. Members that need a tensor, such as sizes(), end the program if the handle is empty.
  AnyTensor() noexcept = default;
  template <class Impl>
  AnyTensor(CountedPtr<Impl> impl) noexcept : impl_(std::move(impl)) {}  // NOLINT

  explicit operator bool() const noexcept { return impl_ != nullptr; }

  KeySet keys() const noexcept { return impl().keys(); }
  Dims sizes() const { return impl().sizes(); }
  DType dtype() const { return impl().dtype(); }
  std::size_t ndim() const { return sizes().size(); }
  std::int64_t numel() const;
  BatchLevel batch_level() const noexcept { return impl().batch_level(); }
  /// Returns the number of handles to the tensor. An acquire load: a caller that reads 1 owns the
  /// only handle.
  std::uint32_t handle_count() const noexcept { return impl().handle_count(); }

  /// True if both are handles to one tensor, or both are empty.
  friend bool operator==(const AnyTensor&, const AnyTensor&) noexcept = default;

  TensorImpl& impl() const noexcept {
    BYRE_ASSERT(impl_ != nullptr, "an empty tensor handle was used");
    return *impl_;
  }
  /// Returns the tensor as an Impl, or null if the tensor is of another class or the handle is
  /// empty. Requires a static member `key` of type Key in Impl. The key replaces RTTI, so each
  /// class of tensors needs a different key.
  template <class Impl>
  Impl* as() const noexcept {
    return impl_ != nullptr && impl_->keys().has(Impl::key) ? static_cast<Impl*>(impl_.get())
                                                            : nullptr;
  }

 private:
  CountedPtr<TensorImpl> impl_;
};

using Tensors = std::vector<AnyTensor>;

/// A function from tensors to tensors. functionalize(), vmap() and capture() transform it.
using Program = std::function<Tensors(const Tensors&)>;

}  // namespace byre::inline BYRE_ABI::functional
