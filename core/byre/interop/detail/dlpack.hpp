// SPDX-License-Identifier: BSL-1.0
/// What another library holds of a tensor by DLPack. An export that comes back to byre is recognized by its deleter.
#pragma once

#include <byre/interop/dlpack_structures.hpp>
#include <byre/storage/pin.hpp>
#include <byre/tensor/dims.hpp>
#include <byre/tensor/dtype.hpp>

namespace byre::inline v0::detail {

/// The device that DLPack names. Throws DeviceError if it is not registered.
Device device_of(dlpack::DLDevice device);
/// Throws DTypeError.
DType dtype_of_dlpack(dlpack::DLDataType type);

struct PinAccess {
  /// The storage for a tensor over the pinned bytes. An empty handle if the tensor has to alias them: others write them,
  /// or lazy clones of an alias are to share them from now on.
  static Storage to_storage(Pin& pin, bool is_exclusive) {
    return is_exclusive && pin.holds_aliased_data() ? Storage() : pin.to_storage();
  }
};

/// The pin of an export, and what its structure points to.
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
  /// Destroys `*this`. Within the release of another export on the same thread it waits until that is over: libraries
  /// that wrap each other's tensors make chains of any length, and a stack is short.
  void release() noexcept;

 private:
  ExportedBytes* next_ = nullptr;  ///< that waits for its release
};

template <class Managed>
class Exported final : public ExportedBytes {
 public:
  Exported() noexcept {
    managed.manager_ctx = this;
    managed.deleter = &release_managed;
  }

  /// Null if `managed` is another library's, or of another library that contains byre.
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

}  // namespace byre::inline v0::detail
