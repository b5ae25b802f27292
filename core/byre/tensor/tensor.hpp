// SPDX-License-Identifier: BSL-1.0
/// Tensor: an n-dimensional array of elements of one dtype (element type). The elements are a view
/// of the bytes of a Storage, which several tensors may share. This header declares creation,
/// memory, element access, views and clones of tensors; elements.hpp declares arithmetic.
///
/// Most members are a single call of a view function in views.hpp or of a function in a source
/// file.
#pragma once

#include <byre/config.hpp>
#include <byre/error/detail/assert.hpp>
#include <byre/shadow/detail/tracking.hpp>
#include <byre/shadow/mode.hpp>
#include <byre/storage/storage.hpp>
#include <byre/sync/counted_ptr.hpp>
#include <byre/tensor/detail/tensor_base.hpp>
#include <byre/tensor/devices.hpp>
#include <byre/tensor/dtype.hpp>
#include <byre/tensor/layout.hpp>
#include <byre/tensor/states.hpp>
#include <byre/tensor/views.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace byre::inline BYRE_ABI {

namespace detail {
struct ElementAccess;
class TensorWrite;
}

/// A reference-counted handle to a tensor: sizes, strides, an offset, a dtype, a device and a
/// Storage, which holds the bytes.
///
/// ```cpp
/// using byre::DType, byre::Tensor;
/// Tensor x = Tensor::zeros({2, 3}, DType::f32);
/// Tensor row = x.select(0, 1);           // a view: x and row have one storage
/// const Tensor before = x.lazy_clone();  // a second storage that shares the data until a write
/// row.set_at<float>({2}, 7);             // a write: copies the data once, for x and row
/// assert(x.at<float>({1, 2}) == 7 && row.aliases(x));
/// assert(before.at<float>({1, 2}) == 0 && !before.aliases(x));
/// ```
///
/// A write to the elements of a tensor is visible
/// - through every copy of the handle, because all copies refer to one tensor. A change of the
///   tensor's sizes or dtype is visible there, too;
/// - in every view of the tensor (alias(), select(), ...), because a tensor and its views have one
///   storage. Each view has sizes, strides and a dtype of its own;
/// - in no clone of the tensor (lazy_clone(), clone(), reshape(), ...), because each clone has a
///   storage of its own.
///
/// Two tensors *alias* if and only if they have one storage: see aliases().
///
/// A tensor is *contiguous* if its elements are adjacent in row-major order. The *host* is the CPU,
/// with its memory; other devices are registered with register_device() (devices.hpp).
///
/// States: a tensor always has sizes, but may lack memory or a dtype. docs/tensor-states.md has a
/// table of all operations in all states.
/// - *initialized*: the tensor has a dtype, and has memory or needs none.
/// - *storage-uninitialized*: the tensor has elements, but no memory. realize(), reserve() or a
///   write, for example by mutable_data() or fill_(), allocates the memory. Until then views and
///   clones of it cannot be made: members that make them throw StateError.
/// - *dtype-uninitialized*: the tensor has no dtype. realize(), mutable_data<T>() or copy_() sets
///   it.
/// - An *empty handle*, Tensor(), refers to no tensor.
///
/// Unless a member says otherwise:
/// - Requires a nonempty handle: on an empty handle, a member aborts the program. A
///   function that takes a tensor as an argument throws StateError if the handle is empty.
/// - Errors: a member that throws leaves every tensor unchanged. A member that creates a tensor, or
///   that allocates or copies elements, throws OutOfMemory if memory is exhausted, and the
///   exceptions of the allocator and of the device that it uses. In the debugging mode
///   ReshapeMode::error, reshape() may return a view. A member that reads or writes elements then
///   throws shadow::ReshapeViolation if the member would have had another result had reshape()
///   returned a clone (see reshape()).
/// - Cost: a getter costs O(ndim) at most, copies nothing and takes no lock. A view copies no
///   elements: it costs O(ndim) and one atomic add, and allocates one small block, usually from a
///   cache of the thread.
/// - Thread-safety: threads may use tensors with different storages independently, also lazy clones
///   of one tensor. Threads may call const members of tensors with one storage concurrently. The
///   caller must not run any other member, or a function that writes, concurrently with an
///   operation on a tensor with the same storage; mutable_data_in_parallel() is the exception. One
///   handle object follows the rules of std::shared_ptr: no thread may assign it while another
///   thread uses it.
/// - `site` is the call site, a line of source, that counters, events and reports name. The default
///   is the line of the caller.
/// - A reference that a getter returns is valid as long as the tensor exists; the value changes
///   with the tensor.
///
/// The design follows the note "TensorBase" (docs/glossary.md).
class BYRE_API Tensor {
 public:
  /// An empty handle, which supports assignment, destruction, operator bool and release(). Any
  /// other member aborts the program.
  Tensor() noexcept = default;

  /// A dtype-uninitialized tensor of sizes [0], without elements, on `device`. Throws DeviceError
  /// if the device is not registered.
  explicit Tensor(Device device);

  /// A contiguous tensor with indeterminate elements; elements of dtype bool are false. Throws
  /// ShapeError if a size is negative, there are more than max_ndim sizes, or the elements have
  /// more bytes than an object can have; DTypeError if `dtype` is DType::uninitialized; DeviceError
  /// if the device is not registered. Cost: one allocation of memory, and O(n) for bool.
  static Tensor empty(const Dims& sizes, DType dtype, Device device = Device::cpu());
  /// As above, with memory from `allocator`, on the allocator's device. The tensor, its views and
  /// its clones also take later memory from `allocator`. Requires that `allocator` outlives them.
  static Tensor empty(const Dims& sizes, DType dtype, Allocator& allocator);
  /// As empty(), with all elements 0. Cost: O(n) in the number of bytes; for another device also a
  /// copy from the host.
  static Tensor zeros(const Dims& sizes, DType dtype, Device device = Device::cpu());
  /// A contiguous tensor on the host with a copy of `values`, in row-major order. Throws ShapeError
  /// if the number of values is not the product of `sizes`, and the errors of empty(). Cost: O(n).
  template <Element T>
  static Tensor of(const Dims& sizes, std::initializer_list<T> values) {
    return of(sizes, std::span<const T>(values.begin(), values.size()));
  }
  template <Element T>
  static Tensor of(const Dims& sizes, std::span<const T> values) {
    return copy_of(sizes, values.data(), values.size(), dtype_of<T>);
  }
  /// A contiguous view of an existing storage, from its first byte on.
  ///
  /// If `dtype` is bool, the present bytes in host memory are checked. The caller must ensure that
  /// later bytes are also 0 or 1: those that resize() or as_strided() makes part of the tensor, and
  /// those written through a tensor of another dtype with this storage. To read any other byte as a
  /// bool is undefined in C++.
  ///
  /// Throws ShapeError if the sizes are invalid or the storage is too small, InvalidArgument if the
  /// address of host memory is not aligned for `dtype`, and DTypeError if `dtype` is
  /// DType::uninitialized or a bool in host memory is neither 0 nor 1. Cost: copies nothing; reads
  /// the bytes of bools, O(n).
  static Tensor over(Storage storage, const Dims& sizes, DType dtype);

  /// False for an empty handle.
  explicit operator bool() const noexcept { return base_ != nullptr; }

  /// Empties this handle and returns the reference-counted object, for example to pass a tensor
  /// across a language boundary. The object is not destroyed before the caller passes it to
  /// reclaim(). Returns null for an empty handle.
  TensorBase* release() noexcept { return base_.detach(); }
  /// Returns a handle to the tensor that release() returned as `base`, and takes over its
  /// reference. Requires exactly one call of
  /// reclaim() for each release().
  static Tensor reclaim(TensorBase* base) noexcept { return Tensor(base, false); }

  // ---- properties

  const Layout& layout() const noexcept { return base().layout; }
  const Dims& sizes() const noexcept { return base().layout.sizes; }
  const Dims& strides() const noexcept { return base().layout.strides; }
  /// The index of the first element in the storage, in elements.
  std::int64_t storage_offset() const noexcept { return base().layout.offset; }
  std::size_t ndim() const noexcept { return base().layout.ndim(); }
  /// The size along `axis`. A negative axis counts from the last. Throws ShapeError if `axis` is
  /// out of range.
  std::int64_t size(std::int64_t axis) const;
  std::int64_t numel() const noexcept { return base().layout.numel(); }
  DType dtype() const noexcept { return base().dtype; }
  std::size_t itemsize() const noexcept { return byre::itemsize(dtype()); }
  /// numel() * itemsize(); 0 if the tensor is dtype-uninitialized.
  std::size_t nbytes() const noexcept { return static_cast<std::size_t>(numel()) * itemsize(); }
  Device device() const noexcept { return base().device; }
  const Storage& storage() const noexcept { return base().storage; }
  bool is_contiguous() const noexcept { return base().layout.is_contiguous(); }

  bool is_dtype_initialized() const noexcept { return dtype() != DType::uninitialized; }
  /// True if the tensor has memory, or needs none because it has no elements.
  bool is_storage_initialized() const noexcept { return bool(base().storage) || numel() == 0; }
  /// True if and only if the two tensors have one storage: a write to the storage through either is
  /// visible through the other. False if either tensor has no storage (before it first got memory,
  /// or after free_memory()), or if `other` is an empty handle.
  bool aliases(const Tensor& other) const noexcept {
    return other && bool(storage()) && storage() == other.storage();
  }
  /// The number of handles to this tensor. Acquire load: if the result is 1, this handle is the
  /// only handle until the caller copies it.
  std::uint32_t handle_count() const noexcept { return base().handles.count(); }
  /// The allocator of the tensor's next memory: that of its current or last memory, or the device's
  /// allocator if the tensor never had memory. Takes a lock only in the latter case, and only for a
  /// device other than the host.
  Allocator& allocator() const;

  // ---- states and memory: see the table in docs/tensor-states.md. Each member returns this
  // handle.
  //
  // Below, a storage is *shared* if another tensor, or another Storage handle, refers to it. A lazy
  // clone does not share it, because the clone has a storage of its own.

  /// Changes the sizes of the tensor to `sizes`; the tensor stays contiguous. If the storage is
  /// large enough, the tensor retains it with its elements, unless `on_shrink` is
  /// OnShrink::free_memory and `sizes` have fewer elements. Otherwise the tensor releases the
  /// storage, and becomes storage-uninitialized if it has elements. Does nothing if `sizes` equal
  /// the present sizes.
  ///
  /// Throws ShapeError if `sizes` are invalid or this tensor is not contiguous, StateError if the
  /// tensor would release a shared storage. Cost: copies and allocates no elements.
  Tensor& resize(const Dims& sizes, OnShrink on_shrink = OnShrink::keep_memory);
  /// Sets the dtype, and allocates memory if the tensor is storage-uninitialized or changes its
  /// dtype. New memory has the contents of empty(): a tensor of another dtype loses its elements
  /// and becomes contiguous. Does nothing if the tensor is initialized and of this dtype.
  ///
  /// Throws DTypeError if `dtype` is DType::uninitialized, StateError if the dtype would change and
  /// the storage is shared, ShapeError if the elements would have more bytes than an object can
  /// have.
  Tensor& realize(DType dtype);
  template <Element T>
  Tensor& realize() {
    return realize(dtype_of<T>);
  }
  /// Releases the memory and retains the sizes and the dtype; the strides become contiguous. A
  /// tensor with elements becomes storage-uninitialized. Throws StateError if the storage is
  /// shared.
  Tensor& free_memory();
  /// Reserves memory for `sizes`: a later resize() to that many elements or fewer retains the
  /// memory. Preserves the elements. Allocates the memory of a storage-uninitialized tensor.
  ///
  /// Throws StateError if the tensor is dtype-uninitialized or its storage is shared, ShapeError if
  /// `sizes` are invalid. Cost: if the memory grows, O(n) in the bytes of the storage, which move.
  Tensor& reserve(const Dims& sizes, CallSite site = CallSite::current());
  /// Enlarges the first dimension by `count`. Preserves the elements; the new elements have the
  /// contents of empty(). If the memory has to grow, reserves `growth_percent` percent more than
  /// the new first size, or only the new size if that fails.
  ///
  /// Throws StateError if the tensor is storage- or dtype-uninitialized or its storage is shared,
  /// ShapeError if the tensor is not contiguous or has no dimensions, `count` is negative, or the
  /// new sizes are invalid. Cost: as reserve(); O(ndim) if the memory suffices.
  Tensor& extend(std::int64_t count, unsigned growth_percent = 40,
                 CallSite site = CallSite::current());
  /// Makes this tensor a view of all elements of `source`, with the sizes of this tensor and the
  /// dtype of `source`. This tensor releases its previous storage. Throws StateError if `source` is
  /// storage- or dtype-uninitialized, ShapeError if the numbers of elements differ or strides
  /// cannot express the sizes, DeviceError if the devices differ. Cost: copies nothing.
  Tensor& share_data(const Tensor& source);
  /// Makes this tensor a contiguous tensor of `dtype` over foreign memory (memory that byre did not
  /// allocate), on the device of this tensor. Requires that `data` holds numel() elements. The
  /// tensor releases its previous storage. `deleter` is called exactly once, with `data`: by the
  /// thread that releases the last owner of the memory, or during this call if this call throws.
  ///
  /// Throws InvalidArgument if `deleter` is null, or `data` is null although there are elements, or
  /// host memory at `data` is misaligned for `dtype`; DTypeError if `dtype` is DType::uninitialized
  /// or a bool in host memory is neither 0 nor 1; ShapeError if the elements have more bytes than
  /// an object can have. Cost: copies nothing; reads the bytes of bools, O(n).
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

  // ---- access to elements through pointers
  //
  // A pointer for reading is valid until the storage is next written, through any tensor, or until
  // the memory is released.
  //
  // A pointer for writing may be used until the storage is next lazily cloned, through any tensor
  // (by lazy_clone(), reshape(), contiguous() or to()), or until the memory is released. A later
  // write through the pointer would change the clone. Call mutable_data() again instead, which
  // costs one load if nothing has to be copied. The tracking of reshapes (docs/reshape.md) records
  // the call of mutable_data(), but not later writes through the pointer; its reports state the
  // number of pointers that were handed out.
  //
  // The pointer of a tensor without elements may be null.

  /// The first element, for reading. Never copies. Throws DTypeError if T is not the C++ type of
  /// the dtype, StateError if the tensor is storage- or dtype-uninitialized. Cost: a few loads.
  template <Element T>
  const T* data(CallSite site = CallSite::current()) const {
    return static_cast<const T*>(bytes_to_read(dtype_of<T>, site));
  }
  /// The first element, for writing. First calls realize<T>(): a tensor of another dtype loses its
  /// elements. Then *materializes* the storage: if lazy clones share the data, or the data is
  /// read-only, copies it for this storage. See Storage::mutable_data.
  ///
  /// Throws the errors of realize(). Cost: one load if the data is unique (no other storage shares
  /// it), O(n) in the bytes of the storage if the data is copied. If no other storage
  /// shares the data any more, but another thread is still copying from it, waits until that thread
  /// has finished; if `wait` is Wait::never, copies the data instead.
  template <Element T>
  T* mutable_data(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    return static_cast<T*>(bytes_to_write(dtype_of<T>, wait, site));
  }
  /// The first element, for threads of a parallel loop that write disjoint elements. Materializes
  /// as mutable_data(): one thread copies the data if necessary, and the others wait for it. Does
  /// not call realize(): throws DTypeError if T is not the C++ type of the dtype, StateError if the
  /// tensor is storage- or dtype-uninitialized.
  ///
  /// Thread-safety: any number of threads may call this member concurrently, on one tensor or on
  /// several tensors with one storage. During the loop these threads may also make views, except by
  /// view(dtype) and as_strided(). A thread that has called this member may read and write elements
  /// through any tensor with this storage. The caller must not run any other operation on the
  /// storage during the loop. See Storage::mutable_data_in_parallel.
  template <Element T>
  T* mutable_data_in_parallel(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    return static_cast<T*>(bytes_to_write_in_parallel(dtype_of<T>, wait, site));
  }
  /// data() and mutable_data() for the tensor's own dtype. Both throw StateError if the tensor is
  /// dtype-uninitialized.
  const void* raw_data(CallSite site = CallSite::current()) const {
    return bytes_to_read(dtype(), site);
  }
  void* mutable_raw_data(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    return bytes_to_write(dtype(), wait, site);
  }
  /// Reads or writes one element. A negative index counts from the end. set_at() allocates the
  /// memory of a storage-uninitialized tensor.
  ///
  /// Throws ShapeError if the number of indices is not ndim() or an index is out of range,
  /// DTypeError if T is not the C++ type of the dtype, StateError if the tensor is
  /// dtype-uninitialized (at() also if it is storage-uninitialized), DeviceError if the tensor is
  /// not on the host. Cost: each call costs as much as data() or mutable_data(), and O(ndim).
  template <Element T>
  T at(std::initializer_list<std::int64_t> indices, CallSite site = CallSite::current()) const {
    return *static_cast<const T*>(element_to_read(indices, dtype_of<T>, site));
  }
  template <Element T>
  void set_at(std::initializer_list<std::int64_t> indices, T value,
              CallSite site = CallSite::current()) {
    *static_cast<T*>(element_to_write(indices, dtype_of<T>, site)) = value;
  }

  // ---- views: new tensors with the storage of this tensor. views.hpp specifies the arguments of
  // each view. Each throws StateError if this tensor is storage-uninitialized, ShapeError if an
  // argument is invalid.

  /// A view of all elements, with the sizes and strides of this tensor.
  Tensor alias() const {
    return make_view("alias", [&] { return Layout(layout()); });
  }
  /// All elements in row-major order, with other sizes; one size may be -1, to be inferred. Throws
  /// ShapeError if strides cannot express the sizes; reshape() copies in this case.
  Tensor view(const Dims& sizes) const {
    return make_view("view", [&] { return views::view(layout(), sizes); });
  }
  /// The bytes as elements of another dtype. The size of the last dimension changes by the ratio of
  /// the item sizes. Throws StateError if this tensor is dtype-uninitialized; DTypeError if `dtype`
  /// is DType::uninitialized, or is bool and this tensor's dtype is not, because only the bytes 0
  /// and 1 are valid bools; InvalidArgument if host memory is not aligned for `dtype`; ShapeError
  /// if the sizes, strides or offset do not fit the item size.
  Tensor view(DType dtype) const;
  /// Any elements of the storage, not only those of this tensor. `offset` is the index of the first
  /// element in the storage; the default is storage_offset(). Throws ShapeError if an element is
  /// outside of the storage.
  Tensor as_strided(const Dims& sizes, const Dims& strides) const {
    return as_strided(sizes, strides, storage_offset());
  }
  Tensor as_strided(const Dims& sizes, const Dims& strides, std::int64_t offset) const;
  /// The dimensions in the order of `axes`.
  Tensor permute(const Dims& axes) const {
    return make_view("permute", [&] { return views::permute(layout(), axes); });
  }
  /// Two dimensions swapped.
  Tensor transpose(std::int64_t first, std::int64_t second) const {
    return make_view("transpose", [&] { return views::transpose(layout(), first, second); });
  }
  /// The transpose of a matrix.
  Tensor t() const {
    return make_view("t", [&] { return views::t(layout()); });
  }
  /// Dimension from[i] moved to position to[i].
  Tensor movedim(const Dims& from, const Dims& to) const {
    return make_view("movedim", [&] { return views::movedim(layout(), from, to); });
  }
  /// Without all dimensions of size 1, or without `axis` if its size is 1.
  Tensor squeeze() const {
    return make_view("squeeze", [&] { return views::squeeze(layout()); });
  }
  Tensor squeeze(std::int64_t axis) const {
    return make_view("squeeze", [&] { return views::squeeze(layout(), axis); });
  }
  /// With a new dimension of size 1 before `axis`.
  Tensor unsqueeze(std::int64_t axis) const {
    return make_view("unsqueeze", [&] { return views::unsqueeze(layout(), axis); });
  }
  /// Dimensions of size 1 repeated, and new dimensions in front, both by a stride of 0.
  Tensor expand(const Dims& sizes) const {
    return with_layout(views::expand(layout(), sizes), "expand");
  }
  /// The elements at `index` of `axis`, without that dimension.
  Tensor select(std::int64_t axis, std::int64_t index) const {
    return make_view("select", [&] { return views::select(layout(), axis, index); });
  }
  /// The elements start, start + step, ... before `end` of `axis`.
  Tensor slice(std::int64_t axis, std::int64_t start = 0, std::int64_t end = views::to_the_end,
               std::int64_t step = 1) const {
    return make_view("slice", [&] { return views::slice(layout(), axis, start, end, step); });
  }
  /// `length` elements of `axis`, from `start` on.
  Tensor narrow(std::int64_t axis, std::int64_t start, std::int64_t length) const {
    return make_view("narrow", [&] { return views::narrow(layout(), axis, start, length); });
  }
  /// Consecutive parts of `axis`: of `size` elements each, or of sizes[0], sizes[1], ... elements.
  std::vector<Tensor> split(std::int64_t size, std::int64_t axis = 0) const {
    return with_layouts(views::split(layout(), size, axis), "split");
  }
  std::vector<Tensor> split(const Dims& sizes, std::int64_t axis = 0) const {
    return with_layouts(views::split(layout(), sizes, axis), "split");
  }
  /// At most `count` consecutive parts of `axis`, of equal size except for the last.
  std::vector<Tensor> chunk(std::int64_t count, std::int64_t axis = 0) const {
    return with_layouts(views::chunk(layout(), count, axis), "chunk");
  }
  /// select() for each index of `axis`.
  std::vector<Tensor> unbind(std::int64_t axis = 0) const {
    return with_layouts(views::unbind(layout(), axis), "unbind");
  }
  /// The diagonal of two dimensions, as a new last dimension.
  Tensor diagonal(std::int64_t offset = 0, std::int64_t first = 0, std::int64_t second = 1) const {
    return make_view("diagonal", [&] { return views::diagonal(layout(), offset, first, second); });
  }
  /// Windows of `size` elements of `axis`, `step` elements apart, as a new last dimension.
  Tensor unfold(std::int64_t axis, std::int64_t size, std::int64_t step) const {
    return with_layout(views::unfold(layout(), axis, size, step), "unfold");
  }
  /// Dimensions `first` to `last` joined into one. Throws ShapeError if strides cannot express
  /// that.
  Tensor flatten(std::int64_t first = 0, std::int64_t last = -1) const {
    return make_view("flatten", [&] { return views::flatten(layout(), first, last); });
  }
  /// view_as_real(): a complex64 tensor as f32, with a new last dimension of size 2.
  /// view_as_complex(): the reverse. Both throw StateError if this tensor is dtype-uninitialized,
  /// DTypeError if it has any other dtype.
  Tensor view_as_real() const;
  Tensor view_as_complex() const;

  // ---- clones: new tensors with storages of their own. A write to the tensor is not visible in
  // the clone, and a write to the clone is not visible in the tensor. Each member throws StateError
  // if this tensor is storage-uninitialized.

  /// A clone with the layout (sizes and strides) of this tensor. The two share the data: the first
  /// write to either of them copies it. Cost: two small allocations and a few atomic adds;
  /// copies no elements.
  ///
  /// In two cases the elements are copied immediately, O(n): if the memory may have other writers
  /// (see Storage::lazy_clone), and if the elements of the tensor are less than half of the bytes
  /// of its storage. In the latter case only these elements are copied, so that the clone does not
  /// retain the rest of the storage; the copy is dense, and its dimensions retain their order in
  /// memory. The data of a
  /// mapped file is never copied here: its clones share the data, however small the tensor is.
  Tensor lazy_clone(CallSite site = CallSite::current()) const;
  /// A clone with the layout of this tensor, for code that writes through pointers without calling
  /// byre: see Storage::writable_clone. If the elements are less than half of the bytes of the
  /// storage, they are copied immediately, as by lazy_clone(). Counts as a write to this tensor's
  /// storage.
  Tensor writable_clone(CallSite site = CallSite::current());
  /// A contiguous copy, made immediately. Cost: O(n).
  Tensor clone(CallSite site = CallSite::current()) const;
  /// A contiguous clone: lazy_clone() if this tensor is contiguous, otherwise clone().
  Tensor contiguous(CallSite site = CallSite::current()) const;
  /// A clone with other sizes and the elements in row-major order. One size may be -1, to be
  /// inferred. If strides can express the sizes, the clone is made as by lazy_clone(); otherwise it
  /// is copied immediately, O(n). Throws ShapeError if the sizes are invalid or have another number
  /// of elements.
  ///
  /// This holds in ReshapeMode::copy, the default. Other modes help to find code that relies on
  /// views (docs/reshape.md); the mode is set by the environment variable BYRE_RESHAPE, by a call
  /// for the whole process, or by a guard object for a scope (shadow/mode.hpp). In the modes alias,
  /// warn and error, the result is a view of this tensor if strides can express the sizes. In the
  /// modes warn and error, later accesses to the storage are tracked. Throws InvalidArgument if
  /// BYRE_RESHAPE names no mode, and, in the modes warn and error, if another environment variable
  /// that docs/reshape.md describes has an invalid value. Source: the design note "Copy-on-write
  /// motivation".
  Tensor reshape(const Dims& sizes, CallSite site = CallSite::current()) const;
  /// Makes this tensor the result of its reshape(). Earlier views of the tensor retain the old
  /// storage: in ReshapeMode::copy they no longer alias this tensor.
  Tensor& reshape_(const Dims& sizes, CallSite site = CallSite::current());
  /// True if the two tensors alias and belong to one *view family*: a tensor and its views. In the
  /// modes warn and error, each reshape() that returns a view begins a new family, although the
  /// result aliases its source.
  bool is_of_view_family(const Tensor& other) const noexcept {
    return aliases(other) && base().shadow == other.base().shadow;
  }
  /// A clone on `device`: lazy_clone() if the tensor is on `device`, otherwise a contiguous copy,
  /// made immediately, O(n). Throws DeviceError if `device` is not registered, StateError if the
  /// tensor is dtype-uninitialized and not on `device`.
  Tensor to(Device device, CallSite site = CallSite::current()) const;

 private:
  Tensor(TensorBase* base, bool is_new) noexcept : base_(base, is_new) {}
  static Tensor make(Storage storage, Layout&& layout, DType dtype, Device device,
                     Allocator* next_memory = nullptr, shadow::ShadowHandle family = nullptr);
  static Tensor copy_of(const Dims& sizes, const void* values, std::size_t count, DType dtype);

  TensorBase& base() const noexcept {
    BYRE_ASSERT(base_ != nullptr, "an empty tensor handle was used");
    return *base_;
  }
  /// A view that repeats no element of this tensor, so that its size in bytes cannot overflow.
  /// `make_layout` constructs the layout within the new tensor: moving a layout would take longer
  /// than the rest of the call.
  template <class MakeLayout>
  Tensor make_view(const char* operation, const MakeLayout& make_layout) const {
    expect_initialized(operation);
    return owned(new TensorBase(base(), make_layout));
  }
  static Tensor owned(TensorBase* made) {
    if (made == nullptr) [[unlikely]] {
      throw_out_of_memory();
    }
    return Tensor(made, false);
  }
  [[noreturn]] static void throw_out_of_memory();
  /// A view that may repeat elements. Throws ShapeError if its elements have more bytes than an
  /// object can have.
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

  // ---- records for byre/shadow

  friend struct detail::ElementAccess;
  friend class detail::TensorWrite;

  bool is_tracked() const noexcept { return shadow::detail::is_tracked(storage()); }
  void record_read(CallSite site) const {
    if (is_tracked() && numel() != 0) [[unlikely]] {
      record_read_of_storage(site);
    }
  }
  /// Records a read of the whole storage, even if this tensor has no elements.
  void record_read_of_storage(CallSite site) const;
  void record_copy_onto_itself(const Tensor& source, CallSite site);

  // Contiguous copies: on this tensor's device, and on another device. The caller has recorded the
  // read.
  Tensor packed() const;
  Tensor copied_to(Device target) const;
  /// A clone of the storage, or a copy of the elements if they are less than half of the storage.
  template <class CloneStorage, class MakeLayout>
  Tensor clone_view(const char* operation, CallSite site, const CloneStorage& clone_storage,
                    const MakeLayout& make_layout) const;
  bool sees_less_than_half() const noexcept;
  std::optional<Tensor> copy_if_less_than_half(const Layout& seen) const;
  Tensor reshape_as_alias(const Dims& wanted, shadow::ReshapeMode mode, CallSite site) const;

  CountedPtr<TensorBase> base_;
};

}  // namespace byre::inline BYRE_ABI
