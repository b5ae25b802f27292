// SPDX-License-Identifier: BSL-1.0
/// AnyTensor: a handle to a tensor of any backend, or to one that a pass wraps. What it is, its
/// keys say; what can be done with it, the operators that are registered for those.
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

/// Who counts its handles: a base for whatever boost::intrusive_ptr holds here.
class BYRE_API Counted {
 public:
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  /// Acquire: an answer of 1 can be acted on.
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

/// A handle to a new Object, which begins with the one handle that this is. Throws OutOfMemory.
template <class Object, class... Arguments>
boost::intrusive_ptr<Object> make_counted(Arguments&&... arguments) try {
  return boost::intrusive_ptr<Object>(new Object(std::forward<Arguments>(arguments)...), false);
} catch (const std::bad_alloc&) {
  throw OutOfMemory(sizeof(Object), "heap, for a counted object");
}

class AnyTensor;

/// No operator of that name, no kernel for that key, or what a backend cannot do. The text says
/// what there is.
class BYRE_API DispatchError : public Error {
 public:
  using Error::Error;
};

/// Which vmap() a batch is of: one that runs within another is higher. 0: of none.
using BatchLevel = std::uint64_t;

/// What a backend or a pass derives its tensors from. `keys` has the one key of that, by which
/// as() finds the class again.
class BYRE_API TensorImpl : public Counted {
 public:
  KeySet keys() const noexcept { return keys_; }
  virtual Dims sizes() const = 0;
  virtual DType dtype() const = 0;
  /// Of the batch that this is a value of.
  virtual BatchLevel batch_level() const noexcept { return 0; }
  // What a program made of an input comes back by these where there is no memory to write: in two
  // steps, so that several tensors are rebound or none.
  /// A tensor of this class, which nobody else has, that is what `other` is, one of the same
  /// backend. Throws DispatchError for a class that cannot be rebound.
  virtual AnyTensor to_rebind(const AnyTensor& other) const;
  /// This is from now on what `prepared` was, which to_rebind() made.
  virtual void rebind(TensorImpl& prepared) noexcept;

 protected:
  explicit TensorImpl(KeySet keys) noexcept : keys_(keys) {}

 private:
  const KeySet keys_;
};

/// Copying it gives another handle to the same tensor. Thread-safety: of handles, as
/// std::shared_ptr; of the tensor, as of a byre::Tensor: reads at once, a write alone.
class BYRE_API AnyTensor {
 public:
  /// No tensor. Functions refuse it with an ArgumentError where they take a tensor, and where a program or
  /// a kernel returns it; what a tensor has, such as sizes(), ends the program.
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
  /// How many handles there are. Acquire: an answer of 1 can be acted on.
  std::uint32_t handle_count() const noexcept { return impl().handle_count(); }

  /// True iff both are handles to one tensor.
  friend bool operator==(const AnyTensor&, const AnyTensor&) noexcept = default;

  TensorImpl& impl() const noexcept {
    BYRE_ASSERT(impl_ != nullptr, "an empty tensor handle was used");
    return *impl_;
  }
  /// What is behind it, if that is an Impl, which has a `static constexpr Key key`; else null.
  /// Without RTTI: a class of tensors has a key of its own.
  template <class Impl>
  Impl* as() const noexcept {
    return impl_ != nullptr && impl_->keys().has(Impl::key) ? static_cast<Impl*>(impl_.get())
                                                            : nullptr;
  }

 private:
  boost::intrusive_ptr<TensorImpl> impl_;
};

using Tensors = std::vector<AnyTensor>;

/// A function from tensors to tensors, what functionalize(), vmap() and capture() transform.
using Program = std::function<Tensors(const Tensors&)>;

}  // namespace byre::inline v0::functional
