// SPDX-License-Identifier: BSL-1.0
/// Tensor: a view of a storage: sizes, strides, offset, dtype and device. Tensors alias if and only
/// if they share a Storage; a lazy clone is a new Storage with, until either is written, the same
/// data.
///
/// The class is one file of more than 300 lines, as its members are read together: most of them are one call each, of a
/// view in views.hpp or of a function in a source.
#pragma once

#include <byre/config.hpp>
#include <byre/error/detail/assert.hpp>
#include <byre/shadow/detail/tracking.hpp>
#include <byre/shadow/mode.hpp>
#include <byre/storage/storage.hpp>
#include <byre/tensor/detail/tensor_base.hpp>
#include <byre/tensor/devices.hpp>
#include <byre/tensor/dtype.hpp>
#include <byre/tensor/layout.hpp>
#include <byre/tensor/states.hpp>
#include <byre/tensor/views.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace byre::inline v0 {

namespace detail {
struct ElementAccess;
class TensorWrite;
}

/// A counted handle. A copy is another handle to the same tensor: what one resizes or retypes, the
/// other sees. alias() makes another tensor over the same storage.
///
/// States: a tensor may be *storage-uninitialized*, which has elements but no memory yet, or
/// *dtype-uninitialized*, or both. A tensor without elements is always storage-initialized. A
/// storage-uninitialized tensor shares its storage with no other.
///
/// Thread-safety: tensors over different storages are independent, lazy clones included. Tensors over
/// one storage follow the Storage's rule: const operations may run concurrently, a write excludes all
/// else. Threads of a parallel loop may all ask by mutable_data_in_parallel(). Exceptions: an operation that
/// throws leaves every tensor as it was.
///
/// Source: the seed "TensorBase".
class BYRE_API Tensor {
 public:
  /// No tensor. Functions refuse it with a StateError where they take a tensor. Of its own members
  /// every one but assignment, destruction, operator bool and release() ends the program.
  Tensor() noexcept = default;

  /// No elements, and no dtype yet: storage-initialized, dtype-uninitialized. Throws DeviceError,
  /// OutOfMemory.
  explicit Tensor(Device device);

  /// Its contents are indeterminate, except that bools are false. Throws ShapeError, DTypeError (for
  /// no dtype), DeviceError, OutOfMemory.
  static Tensor empty(const Dims& sizes, DType dtype, Device device = Device::cpu());
  /// The same, with memory from `allocator` and on its device. The tensor and its clones take later
  /// memory from there too.
  static Tensor empty(const Dims& sizes, DType dtype, Allocator& allocator);
  static Tensor zeros(const Dims& sizes, DType dtype, Device device = Device::cpu());
  /// Elements in row-major order, as many as the sizes say. On the host.
  template <Element T>
  static Tensor of(const Dims& sizes, std::initializer_list<T> values) {
    return of(sizes, std::span<const T>(values.begin(), values.size()));
  }
  template <Element T>
  static Tensor of(const Dims& sizes, std::span<const T> values) {
    return copy_of(sizes, values.data(), values.size(), dtype_of<T>);
  }
  /// A contiguous view of an existing storage, from its first byte on. Throws ShapeError if
  /// the storage is too small, InvalidArgument if its address is not aligned for the dtype, DTypeError
  /// for bools that are neither 0 nor 1. The caller keeps bools valid that a resize or as_strided shows
  /// later, or that are written as another dtype: C++ cannot read any other byte as a bool.
  static Tensor over(Storage storage, const Dims& sizes, DType dtype);

  explicit operator bool() const noexcept { return base_ != nullptr; }

  /// The counted object, which now is the caller's to give to reclaim(), across a language boundary
  /// for example.
  TensorBase* release() noexcept { return base_.detach(); }
  static Tensor reclaim(TensorBase* base) noexcept { return Tensor(base, false); }

  // ---- what it is

  const Layout& layout() const noexcept { return base().layout; }
  const Dims& sizes() const noexcept { return base().layout.sizes; }
  const Dims& strides() const noexcept { return base().layout.strides; }
  /// In elements.
  std::int64_t storage_offset() const noexcept { return base().layout.offset; }
  std::size_t ndim() const noexcept { return base().layout.ndim(); }
  /// Negative axes count from the last. Throws ShapeError.
  std::int64_t size(std::int64_t axis) const;
  std::int64_t numel() const noexcept { return base().layout.numel(); }
  DType dtype() const noexcept { return base().dtype; }
  std::size_t itemsize() const noexcept { return byre::itemsize(dtype()); }
  /// numel() * itemsize(): 0 while there is no dtype.
  std::size_t nbytes() const noexcept { return static_cast<std::size_t>(numel()) * itemsize(); }
  Device device() const noexcept { return base().device; }
  const Storage& storage() const noexcept { return base().storage; }
  bool is_contiguous() const noexcept { return base().layout.is_contiguous(); }

  bool is_dtype_initialized() const noexcept { return dtype() != DType::uninitialized; }
  bool is_storage_initialized() const noexcept { return bool(base().storage) || numel() == 0; }
  /// True iff the two have one storage: each sees what is written to the other. Tensors that never
  /// had memory, or gave it back, have none to share, nor has a handle without a tensor.
  bool aliases(const Tensor& other) const noexcept {
    return other && bool(storage()) && storage() == other.storage();
  }
  /// How many handles there are to this tensor. Acquire: an answer of 1 can be acted on.
  std::uint32_t handle_count() const noexcept { return base().handles.count(); }
  /// The allocator of its next memory: that of its last memory, or else its device's.
  Allocator& allocator() const;

  // ---- states and memory: see docs/tensor-states.md

  /// Gives the tensor these sizes, contiguous. It keeps its storage if that is large enough, and else
  /// becomes storage-uninitialized. Does nothing if it has these sizes already. Throws ShapeError, also
  /// for a tensor that is not contiguous; StateError if other tensors share the storage that would
  /// become uninitialized.
  Tensor& resize(const Dims& sizes, OnShrink on_shrink = OnShrink::keep_memory);
  /// Initializes the dtype and the memory, if they are not; new memory has contents as empty()'s. A
  /// tensor of another dtype loses its elements and gets new memory. Throws StateError if the storage
  /// is shared and would be retyped; OutOfMemory.
  Tensor& realize(DType dtype);
  template <Element T>
  Tensor& realize() {
    return realize(dtype_of<T>);
  }
  /// Releases the memory and keeps the dtype. A tensor with elements is storage-uninitialized then.
  /// Throws StateError if other tensors share the storage.
  Tensor& free_memory();
  /// Reserves memory for `sizes` and keeps the elements: a resize up to these sizes moves nothing.
  /// Throws StateError without a dtype or for a shared storage, ShapeError, OutOfMemory.
  Tensor& reserve(const Dims& sizes, CallSite site = CallSite::current());
  /// Adds `count` along the first dimension, with contents as empty()'s, and keeps the elements.
  /// Reserves `growth_percent` more if there is memory for it. Throws as reserve.
  Tensor& extend(std::int64_t count, unsigned growth_percent = 40,
                 CallSite site = CallSite::current());
  /// Becomes a view of all of `source`'s storage that source sees, under this tensor's sizes. Throws
  /// StateError if source is uninitialized, ShapeError if the numbers of elements differ.
  Tensor& share_data(const Tensor& source);
  /// Takes over foreign memory that holds numel() elements: see Buffer::adopt. Throws as that, and
  /// as over() for its address and for bools.
  template <DeleterLike Deleter>
  Tensor& share_external(void* data, DType dtype, Deleter deleter) {
    if (detail::is_null(deleter)) {
      throw InvalidArgument::null_deleter();
    }
    detail::DeleteOnce<Deleter> owner(data, deleter);
    const std::size_t nbytes = nbytes_of_external(data, dtype);
    auto delete_once = [held = std::move(owner)](void*) {};
    return take_storage(Storage(Buffer::adopt(data, nbytes, std::move(delete_once), allocator())),
                        dtype);
  }

  // ---- access. A pointer to read is valid until the storage is next written, through any view, or
  // its memory given back. A pointer to write may be written through until the storage is next lazily
  // cloned, by reshape, contiguous or to as well, through any view: what is written after that shows
  // in the clone. Ask again then; it costs a load where nothing is to be done. Nor do the shadow
  // storages see what is written later through a pointer that was kept: reports say how many left.

  /// The first element, to read; never copies. Throws DTypeError if T is not the dtype, StateError
  /// without memory.
  template <Element T>
  const T* data(CallSite site = CallSite::current()) const {
    return static_cast<const T*>(bytes_to_read(dtype_of<T>, site));
  }
  /// The first element, to write: realizes and materializes. See Storage::mutable_data.
  template <Element T>
  T* mutable_data(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    return static_cast<T*>(bytes_to_write(dtype_of<T>, wait, site));
  }
  /// The same for the threads of a parallel loop, each of which then writes its own part: any number of them
  /// may call it at once, on one tensor, or on any tensors over one storage. They may make views meanwhile,
  /// but for view(dtype) and as_strided, and use what sees the storage once they have called it. All else
  /// excludes the loop as it excludes a write. See Storage::mutable_data_in_parallel. Realizes nothing: throws
  /// DTypeError if T is not the dtype, StateError without memory.
  template <Element T>
  T* mutable_data_in_parallel(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    return static_cast<T*>(bytes_to_write_in_parallel(dtype_of<T>, wait, site));
  }
  /// The same, of whatever dtype it has. Throws StateError without one.
  const void* raw_data(CallSite site = CallSite::current()) const {
    return bytes_to_read(dtype(), site);
  }
  void* mutable_raw_data(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    return bytes_to_write(dtype(), wait, site);
  }
  /// One element. Throws ShapeError for an index out of range, DTypeError, StateError, DeviceError
  /// off the host.
  template <Element T>
  T at(std::initializer_list<std::int64_t> indices, CallSite site = CallSite::current()) const {
    return *static_cast<const T*>(element_to_read(indices, dtype_of<T>, site));
  }
  template <Element T>
  void set_at(std::initializer_list<std::int64_t> indices, T value,
              CallSite site = CallSite::current()) {
    *static_cast<T*>(element_to_write(indices, dtype_of<T>, site)) = value;
  }

  // ---- views: tensors of their own over the same storage; see views.hpp

  Tensor alias() const {
    return make_view("alias", [&] { return Layout(layout()); });
  }
  Tensor view(const Dims& sizes) const {
    return make_view("view", [&] { return views::view(layout(), sizes); });
  }
  /// The same bytes as elements of another dtype, but never as bools, which not every byte is. Throws
  /// DTypeError for that; InvalidArgument for memory that is not aligned for it.
  Tensor view(DType dtype) const;
  /// Any elements of the storage, in place of those this tensor has. `offset` is counted from the
  /// start of the storage; without one it is storage_offset().
  Tensor as_strided(const Dims& sizes, const Dims& strides) const {
    return as_strided(sizes, strides, storage_offset());
  }
  Tensor as_strided(const Dims& sizes, const Dims& strides, std::int64_t offset) const;
  Tensor permute(const Dims& axes) const {
    return make_view("permute", [&] { return views::permute(layout(), axes); });
  }
  Tensor transpose(std::int64_t first, std::int64_t second) const {
    return make_view("transpose", [&] { return views::transpose(layout(), first, second); });
  }
  Tensor t() const {
    return make_view("t", [&] { return views::t(layout()); });
  }
  Tensor movedim(const Dims& from, const Dims& to) const {
    return make_view("movedim", [&] { return views::movedim(layout(), from, to); });
  }
  Tensor squeeze() const {
    return make_view("squeeze", [&] { return views::squeeze(layout()); });
  }
  Tensor squeeze(std::int64_t axis) const {
    return make_view("squeeze", [&] { return views::squeeze(layout(), axis); });
  }
  Tensor unsqueeze(std::int64_t axis) const {
    return make_view("unsqueeze", [&] { return views::unsqueeze(layout(), axis); });
  }
  Tensor expand(const Dims& sizes) const {
    return with_layout(views::expand(layout(), sizes), "expand");
  }
  Tensor select(std::int64_t axis, std::int64_t index) const {
    return make_view("select", [&] { return views::select(layout(), axis, index); });
  }
  Tensor slice(std::int64_t axis, std::int64_t start = 0, std::int64_t end = views::to_the_end,
               std::int64_t step = 1) const {
    return make_view("slice", [&] { return views::slice(layout(), axis, start, end, step); });
  }
  Tensor narrow(std::int64_t axis, std::int64_t start, std::int64_t length) const {
    return make_view("narrow", [&] { return views::narrow(layout(), axis, start, length); });
  }
  std::vector<Tensor> split(std::int64_t size, std::int64_t axis = 0) const {
    return with_layouts(views::split(layout(), size, axis), "split");
  }
  std::vector<Tensor> split(const Dims& sizes, std::int64_t axis = 0) const {
    return with_layouts(views::split(layout(), sizes, axis), "split");
  }
  std::vector<Tensor> chunk(std::int64_t count, std::int64_t axis = 0) const {
    return with_layouts(views::chunk(layout(), count, axis), "chunk");
  }
  std::vector<Tensor> unbind(std::int64_t axis = 0) const {
    return with_layouts(views::unbind(layout(), axis), "unbind");
  }
  Tensor diagonal(std::int64_t offset = 0, std::int64_t first = 0, std::int64_t second = 1) const {
    return make_view("diagonal", [&] { return views::diagonal(layout(), offset, first, second); });
  }
  Tensor unfold(std::int64_t axis, std::int64_t size, std::int64_t step) const {
    return with_layout(views::unfold(layout(), axis, size, step), "unfold");
  }
  Tensor flatten(std::int64_t first = 0, std::int64_t last = -1) const {
    return make_view("flatten", [&] { return views::flatten(layout(), first, last); });
  }
  /// Of complex64, and of f32 with a last dimension of two.
  Tensor view_as_real() const;
  Tensor view_as_complex() const;

  // ---- copies: writing to either side never shows in the other

  /// A new storage that shares the data until either is written, seen as this tensor sees it. A tensor that sees
  /// less than half of its storage is copied at once, without the rest: the copy keeps the order of the strides.
  /// A mapped file is shared always. Throws StateError for a storage-uninitialized tensor, OutOfMemory. See
  /// Storage::lazy_clone.
  Tensor lazy_clone(CallSite site = CallSite::current()) const;
  /// A copy of this tensor's layout for code that writes by pointers and never asks byre: Storage::writable_clone. A
  /// small part of a storage is copied now. A write to this tensor's storage. Throws as lazy_clone.
  Tensor writable_clone(CallSite site = CallSite::current());
  /// A contiguous copy, made now.
  Tensor clone(CallSite site = CallSite::current()) const;
  /// A contiguous copy: lazy_clone() if this tensor is contiguous, else made now.
  Tensor contiguous(CallSite site = CallSite::current()) const;
  /// A copy under other sizes, where one size may be -1: as lazy_clone() where strides can say it, else made
  /// now. Where shadow::reshape_mode() is another than copy, an alias where strides can say it, tracked
  /// or not. Throws InvalidArgument for a mode in the environment that there is not. Source: the seed
  /// "Copy-on-write motivation".
  Tensor reshape(const Dims& sizes, CallSite site = CallSite::current()) const;
  /// This tensor becomes its own reshape: views that were made of it before are parted from it as from
  /// any reshape.
  Tensor& reshape_(const Dims& sizes, CallSite site = CallSite::current());
  /// True iff writes to one are seen in the other whatever reshape does: they have one storage, and one
  /// shadow storage, as the views of a tensor have.
  bool is_of_view_family(const Tensor& other) const noexcept {
    return aliases(other) && base().shadow == other.base().shadow;
  }
  /// A copy on that device: contiguous if that is another, a lazy clone if it is this one.
  Tensor to(Device device, CallSite site = CallSite::current()) const;

 private:
  Tensor(TensorBase* base, bool is_new) noexcept : base_(base, is_new) {}
  static Tensor make(Storage storage, Layout&& layout, DType dtype, Device device,
                     Allocator* next_memory = nullptr, shadow::ShadowHandle family = nullptr);
  static Tensor copy_of(const Dims& sizes, const void* values, std::size_t count, DType dtype);

  TensorBase& base() const noexcept {
    BYRE_ASSERT(base_ != nullptr, "a tensor handle without a tensor was used");
    return *base_;
  }
  /// A tensor over the same storage, of elements no oftener than this one has them. Its layout is made
  /// where it stays: moving what was just written word by word takes longer than all else there is to a
  /// view.
  template <class MakeLayout>
  Tensor make_view(const char* operation, const MakeLayout& make_layout) const {
    expect_initialized(operation);
    return owned(new TensorBase(base(), make_layout));
  }
  static Tensor owned(TensorBase* made) {
    if (made == nullptr) [[unlikely]] {
      no_memory_for_tensor();
    }
    return Tensor(made, false);
  }
  [[noreturn]] static void no_memory_for_tensor();
  /// The same of elements that may be repeated. Throws ShapeError for more than an object can have.
  Tensor with_layout(Layout&& layout, const char* operation) const;
  Tensor with_layout(Layout&& layout, DType dtype, const char* operation) const;
  std::vector<Tensor> with_layouts(std::vector<Layout> layouts, const char* operation) const;

  void expect_initialized(const char* operation) const {
    if (!is_storage_initialized()) [[unlikely]] {
      refuse_uninitialized(operation);
    }
  }
  [[noreturn]] void refuse_uninitialized(const char* operation) const;
  void expect_unshared(const char* operation) const;
  void expect_dtype(DType dtype, const char* operation) const;
  std::size_t nbytes_of_external(const void* data, DType dtype) const;
  Tensor& take_storage(Storage storage, DType dtype);
  void drop_storage();
  void grow_storage(std::size_t nbytes, CallSite site);

  const void* bytes_to_read(DType wanted, CallSite site) const {
    const TensorBase& seen = base();
    if (!seen.has_memory_of(wanted) || shadow::detail::is_tracked(seen.storage)) [[unlikely]] {
      return tracked_bytes_to_read(wanted, site);
    }
    return seen.storage.data(site) + seen.byte_offset();
  }
  void* bytes_to_write(DType wanted, Wait wait, CallSite site) {
    TensorBase& seen = base();
    if (!seen.has_memory_of(wanted) || !shadow::detail::can_skip_escape_tracking(seen.storage))
        [[unlikely]] {
      return tracked_bytes_to_write(wanted, wait, site);
    }
    const std::size_t byte_offset = seen.byte_offset();
    return seen.storage.mutable_data(wait, site) + byte_offset;
  }
  const void* tracked_bytes_to_read(DType wanted, CallSite site) const;
  void* tracked_bytes_to_write(DType wanted, Wait wait, CallSite site);
  void* bytes_to_write_in_parallel(DType wanted, Wait wait, CallSite site);
  void realize_to_write(DType wanted);
  const void* element_to_read(std::span<const std::int64_t> indices, DType dtype,
                              CallSite site) const;
  void* element_to_write(std::span<const std::int64_t> indices, DType dtype, CallSite site);

  // ---- what byre/shadow records

  friend struct detail::ElementAccess;
  friend class detail::TensorWrite;

  bool is_tracked() const noexcept { return shadow::detail::is_tracked(storage()); }
  void record_read(CallSite site) const {
    if (is_tracked() && numel() != 0) [[unlikely]] {
      record_read_of_storage(site);
    }
  }
  /// For what takes all of the storage along, also where this tensor sees no element of it.
  void record_read_of_storage(CallSite site) const;
  void record_copy_onto_itself(const Tensor& source, CallSite site);

  /// A contiguous copy, and one on another device, of elements that were recorded as read.
  Tensor packed() const;
  Tensor copied_to(Device target) const;
  /// A clone of the storage, or a copy of the seen elements if they are less than half of the storage.
  template <class CloneStorage, class MakeLayout>
  Tensor clone_view(const char* operation, CallSite site, const CloneStorage& clone_storage,
                    const MakeLayout& make_layout) const;
  bool sees_less_than_half() const noexcept;
  std::optional<Tensor> copy_if_less_than_half(const Layout& seen) const;
  Tensor reshape_as_alias(const Dims& wanted, shadow::ReshapeMode mode, CallSite site) const;

  boost::intrusive_ptr<TensorBase> base_;
};

}  // namespace byre::inline v0
