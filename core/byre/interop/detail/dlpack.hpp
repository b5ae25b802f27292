// SPDX-License-Identifier: BSL-1.0
/// The state that a DLPack export holds for another library. An export that returns to byre is
/// recognized by its deleter.
#pragma once

#include <byre/interop/dlpack_structures.hpp>
#include <byre/storage/pin.hpp>
#include <byre/tensor/dims.hpp>
#include <byre/tensor/dtype.hpp>

namespace byre::inline BYRE_ABI::detail {

/// The byre device for a DLPack device. Throws DeviceError if it is not registered.
Device device_of(dlpack::DLDevice device);
/// The dtype for a DLPack data type. Throws DTypeError if byre lacks such a dtype.
DType dtype_of_dlpack(dlpack::DLDataType type);

struct PinAccess {
  /// The storage for a tensor over the pinned bytes. Empty if the tensor needs a new storage over
  /// the bytes: either other code writes them, or they were imported as an alias before and
  /// `is_exclusive` now permits lazy clones to share them.
  static Storage to_storage(Pin& pin, bool is_exclusive) {
    return is_exclusive && pin.holds_aliased_data() ? Storage() : pin.to_storage();
  }
};

/// The pin of an export, and the arrays that its structure points to.
class ExportedBytes {
 public:
  ExportedBytes() = default;
  ExportedBytes(const ExportedBytes&) = delete;
  ExportedBytes& operator=(const ExportedBytes&) = delete;
  virtual ~ExportedBytes() = default;

  Pin pin;
  Dims sizes;
  Dims strides;

 protected:
  /// Destroys `*this`. If this thread is releasing another export already, only enqueues `*this`
  /// for that release to destroy: libraries that wrap each other's tensors make chains of any
  /// length, and recursion would exhaust the stack.
  void release() noexcept;

 private:
  ExportedBytes* next_ = nullptr;  ///< the next export in the queue
};

template <class Managed>
class Exported final : public ExportedBytes {
 public:
  Exported() noexcept {
    managed.manager_ctx = this;
    managed.deleter = &release_managed;
  }

  /// Null if another library exported `managed`, even if that library contains its own byre.
  static ExportedBytes* of(const Managed& managed) noexcept {
    return managed.deleter == &release_managed ? static_cast<Exported*>(managed.manager_ctx)
                                               : nullptr;
  }

  Managed managed{};

 private:
  static void release_managed(Managed* managed) {
    static_cast<Exported*>(managed->manager_ctx)->release();
  }
};

}  // namespace byre::inline BYRE_ABI::detail
