// SPDX-License-Identifier: BSL-1.0
/// Tensor: an n-dimensional array of elements of one dtype, as a view of a Storage. This header has
/// its creation, memory, element access, views and clones; elements.hpp has its arithmetic.
/// Most members are one call each: of a view function in views.hpp, or of a function in a source
/// file.
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

/// A reference-counted handle to a tensor: sizes, strides, an offset, a dtype, a device and a
/// Storage, which holds the bytes.
///
/// ```cpp
/// using byre::DType, byre::Tensor;
/// Tensor x = Tensor::zeros({2, 3}, DType::f32);
/// Tensor row = x.select(0, 1);           // a view: x and row have one storage
/// const Tensor before = x.lazy_clone();  // a second storage, which shares the data for now
/// row.set_at<float>({2}, 7);             // copies the data once, for x and row
/// assert(x.at<float>({1, 2}) == 7 && row.aliases(x));
/// assert(before.at<float>({1, 2}) == 0 && !before.aliases(x));
/// ```
///
/// A write to the elements of a tensor is visible
/// - through every copy of its handle, because copies of a handle refer to one tensor. Changes of
///   its sizes and dtype are visible there too;
/// - in a view of it (alias(), select(), ...), because a tensor and its views have one storage. The
///   view has sizes, strides and a dtype of its own;
/// - not in a clone of it (lazy_clone(), clone(), reshape(), ...), which has a storage of its own.
///
/// Two tensors alias if and only if they have one storage: see aliases().
///
/// States: a tensor always has sizes, but may lack memory or a dtype. docs/tensor-states.md has a
/// table of all operations in all states.
/// - *initialized*: it has a dtype, and memory if it has elements.
/// - *storage-uninitialized*: it has elements and no memory yet. Its first write or realize()
///   allocates. Until then no other tensor can share its storage.
/// - *dtype-uninitialized*: it has no dtype yet. Its first write or realize() sets the dtype.
/// - An *empty handle*, Tensor(), refers to no tensor.
///
/// Unless a member says otherwise:
/// - Requires a nonempty handle; with an empty one the program is aborted. A function that takes a
///   tensor as an argument throws StateError for an empty handle.
/// - Throws: an operation that throws leaves every tensor as it was.
/// - Cost: a getter copies nothing and takes no lock. A view copies no elements: it allocates one
///   small block, mostly from a cache of the thread, and costs O(ndim) and one atomic add.
/// - Thread-safety: tensors with different storages are independent, lazy clones included. For
///   tensors with one storage the Storage's rule holds: const members may run concurrently, and the
///   caller must not run a write concurrently with any other operation. The threads of a parallel
///   loop may write through mutable_data_in_parallel(). One handle object follows the rules of
///   std::shared_ptr: it must not be assigned while another thread uses that object.
/// - `site` is the call site (a line of source) that counters, events and reports name: by default,
///   that of the caller.
///
/// Source: the design note "TensorBase".
class BYRE_API Tensor {
 public:
  /// An empty handle. It can be assigned, destroyed, tested by operator bool and released by
  /// release(). Any other member aborts the program.
  Tensor() noexcept = default;

  /// A tensor of sizes [0] on `device`: no elements, dtype-uninitialized. Throws DeviceError if the
  /// device is not registered, OutOfMemory.
  explicit Tensor(Device device);

  /// A contiguous tensor with indeterminate elements, except that bools are false. Throws
  /// ShapeError for a negative size or too many elements, DTypeError if `dtype` is
  /// DType::uninitialized, DeviceError if the device is not registered, OutOfMemory.
  static Tensor empty(const Dims& sizes, DType dtype, Device device = Device::cpu());
  /// As above, with memory from `allocator`, on the allocator's device. The tensor and its clones
  /// also take later memory from `allocator`, which must outlive them.
  static Tensor empty(const Dims& sizes, DType dtype, Allocator& allocator);
  /// As empty(), with all elements 0. O(n) in the number of bytes.
  static Tensor zeros(const Dims& sizes, DType dtype, Device device = Device::cpu());
  /// A tensor on the host with a copy of `values`, in row-major order. Throws ShapeError if the
  /// number of values is not the product of `sizes`, and as empty().
  template <Element T>
  static Tensor of(const Dims& sizes, std::initializer_list<T> values) {
    return of(sizes, std::span<const T>(values.begin(), values.size()));
  }
  template <Element T>
  static Tensor of(const Dims& sizes, std::span<const T> values) {
    return copy_of(sizes, values.data(), values.size(), dtype_of<T>);
  }
  /// A contiguous view of an existing storage, from its first byte on. Throws ShapeError if the
  /// storage is too small, InvalidArgument if its address is not aligned for the dtype, DTypeError
  /// if a bool is neither 0 nor 1. Copies nothing; reads the bytes of bools, O(n).
  ///
  /// Requires that bytes which become bools later are 0 or 1 too: bytes that a resize() or
  /// as_strided() adds, and bytes that are written as another dtype. Reading a byte that is neither
  /// 0 nor 1 as a bool is undefined in C++.
  static Tensor over(Storage storage, const Dims& sizes, DType dtype);

  /// False for an empty handle.
  explicit operator bool() const noexcept { return base_ != nullptr; }

  /// Empties this handle and returns the counted object, to pass a tensor across a language
  /// boundary for example. The caller owns the handle's count until it calls reclaim().
  TensorBase* release() noexcept { return base_.detach(); }
  /// The handle that release() turned into `base`. Requires one call for each release().
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
  /// numel() * itemsize(). 0 if the tensor is dtype-uninitialized.
  std::size_t nbytes() const noexcept { return static_cast<std::size_t>(numel()) * itemsize(); }
  Device device() const noexcept { return base().device; }
  const Storage& storage() const noexcept { return base().storage; }
  bool is_contiguous() const noexcept { return base().layout.is_contiguous(); }

  bool is_dtype_initialized() const noexcept { return dtype() != DType::uninitialized; }
  /// True if the tensor has memory or needs none, because it has no elements.
  bool is_storage_initialized() const noexcept { return bool(base().storage) || numel() == 0; }
  /// True iff the two tensors have one storage, so that a write to one is visible in the other.
  /// False if either has no storage: before it first got memory, after free_memory(), or if `other`
  /// is an empty handle.
  bool aliases(const Tensor& other) const noexcept {
    return other && bool(storage()) && storage() == other.storage();
  }
  /// The number of handles to this tensor. Acquire load: if the result is 1, this handle is the
  /// only one and stays so until the caller copies it.
  std::uint32_t handle_count() const noexcept { return base().handles.count(); }
  /// The allocator of the tensor's next memory: the allocator of its current or last memory, or the
  /// device's if it never had any.
  Allocator& allocator() const;

  // ---- states and memory: docs/tensor-states.md has the table. Each returns this handle.

  /// Gives the tensor these sizes, contiguous, and copies nothing. If the storage is large enough,
  /// the tensor retains it with its elements, unless `on_shrink` is OnShrink::free_memory and the
  /// tensor gets fewer elements. Otherwise the tensor becomes storage-uninitialized. Does nothing
  /// if `sizes` are the tensor's sizes already. Throws ShapeError for invalid sizes or if this
  /// tensor is not contiguous, StateError if the storage would be dropped while other tensors share
  /// it.
  Tensor& resize(const Dims& sizes, OnShrink on_shrink = OnShrink::keep_memory);
  /// Initializes the dtype and the memory if they are uninitialized, with contents as of empty(). A
  /// tensor of another dtype loses its elements and gets new memory. Does nothing if the tensor is
  /// initialized and of this dtype. Throws DTypeError if `dtype` is DType::uninitialized,
  /// StateError if the dtype would change while other tensors share the storage, OutOfMemory.
  Tensor& realize(DType dtype);
  template <Element T>
  Tensor& realize() {
    return realize(dtype_of<T>);
  }
  /// Releases the memory, but not the dtype. A tensor with elements becomes storage-uninitialized.
  /// Throws StateError if other tensors share the storage.
  Tensor& free_memory();
  /// Reserves memory for `sizes`, so that a resize() up to these sizes needs no new memory.
  /// Elements are preserved; they are moved if the memory grows. Throws StateError if the tensor is
  /// dtype-uninitialized or other tensors share the storage, ShapeError, OutOfMemory.
  Tensor& reserve(const Dims& sizes, CallSite site = CallSite::current());
  /// Enlarges the first dimension by `count`. The new elements have contents as of empty();
  /// existing elements are preserved. If memory has to grow, also reserves `growth_percent` percent
  /// more, unless memory for that is lacking. Throws ShapeError if the tensor is not contiguous or
  /// has no dimensions, or if `count` is negative or the sizes overflow; otherwise as reserve().
  Tensor& extend(std::int64_t count, unsigned growth_percent = 40,
                 CallSite site = CallSite::current());
  /// Makes this tensor a view of all elements of `source`, with the sizes of this tensor and the
  /// dtype of `source`. Throws StateError if `source` is uninitialized, ShapeError if the numbers
  /// of elements differ or strides cannot express the sizes, DeviceError if the devices differ.
  Tensor& share_data(const Tensor& source);
  /// Takes over foreign memory that holds numel() elements of `dtype`: see Buffer::adopt. `deleter`
  /// is called once, also if this throws. Throws InvalidArgument if `deleter` is null, the errors
  /// of Buffer::adopt, and the errors of over() for a misaligned address or an invalid bool.
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

  // ---- access to elements through pointers.
  //
  // A pointer to read is valid until the storage is next written, through any tensor, or its memory
  // is released.
  //
  // A pointer to write may be written through until the storage is next lazily cloned, through any
  // tensor, by lazy_clone(), reshape(), contiguous() or to(), or its memory is released. A later
  // write would appear in the clone. Call mutable_data() again instead; if nothing is to be copied,
  // that costs one load. The audit of reshape (docs/reshape.md) does not record writes through a
  // retained pointer. Its reports state how many pointers were handed out.
  //
  // A tensor without elements may have a null pointer. In ReshapeMode::error (see reshape()), an
  // access that relies on a reshape being an alias throws shadow::ReshapeViolation.

  /// The first element, to read. Never copies. Throws DTypeError if T is not the dtype, StateError
  /// if the tensor is storage- or dtype-uninitialized.
  template <Element T>
  const T* data(CallSite site = CallSite::current()) const {
    return static_cast<const T*>(bytes_to_read(dtype_of<T>, site));
  }
  /// The first element, to write. First calls realize<T>(), so a tensor of another dtype loses its
  /// elements. Then materializes the storage: if other storages share the data, it is copied. See
  /// Storage::mutable_data. Throws as realize(), and OutOfMemory if the data has to be copied.
  /// Cost: one load if the data is unique, O(n) if it is copied. May wait for copies in progress,
  /// unless `wait` is Wait::never.
  template <Element T>
  T* mutable_data(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    return static_cast<T*>(bytes_to_write(dtype_of<T>, wait, site));
  }
  /// The first element, for threads of a parallel loop that write disjoint elements. Does not
  /// realize: throws DTypeError if T is not the dtype, StateError if the tensor is storage- or
  /// dtype-uninitialized; OutOfMemory.
  ///
  /// Thread-safety: any number of threads may call it at once, on one tensor or on tensors with one
  /// storage. During the loop these threads may also make views, except by view(dtype) and
  /// as_strided(). A thread that has called it may read and write elements through any tensor with
  /// this storage. No other operation on the storage may run during the loop. See
  /// Storage::mutable_data_in_parallel.
  template <Element T>
  T* mutable_data_in_parallel(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    return static_cast<T*>(bytes_to_write_in_parallel(dtype_of<T>, wait, site));
  }
  /// As data() and mutable_data() with the tensor's own dtype. Throws StateError if the tensor is
  /// dtype-uninitialized.
  const void* raw_data(CallSite site = CallSite::current()) const {
    return bytes_to_read(dtype(), site);
  }
  void* mutable_raw_data(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    return bytes_to_write(dtype(), wait, site);
  }
  /// Reads or writes one element. A negative index counts from the end. Throws ShapeError if the
  /// number of indices is not ndim() or an index is out of range, DTypeError if T is not the dtype,
  /// StateError if the tensor is uninitialized, DeviceError if the tensor is not on the host. Cost:
  /// as data() and mutable_data(), for each call.
  template <Element T>
  T at(std::initializer_list<std::int64_t> indices, CallSite site = CallSite::current()) const {
    return *static_cast<const T*>(element_to_read(indices, dtype_of<T>, site));
  }
  template <Element T>
  void set_at(std::initializer_list<std::int64_t> indices, T value,
              CallSite site = CallSite::current()) {
    *static_cast<T*>(element_to_write(indices, dtype_of<T>, site)) = value;
  }

  // ---- views: new tensors with the same storage. views.hpp describes each view and its arguments.
  // Throws StateError if this tensor is storage-uninitialized, ShapeError for invalid arguments,
  // OutOfMemory.

  /// A view of all elements.
  Tensor alias() const {
    return make_view("alias", [&] { return Layout(layout()); });
  }
  Tensor view(const Dims& sizes) const {
    return make_view("view", [&] { return views::view(layout(), sizes); });
  }
  /// The bytes as elements of another dtype. Throws DTypeError if `dtype` is bool and this
  /// tensor's is not, because only the bytes 0 and 1 are valid bools; InvalidArgument if the memory
  /// is not aligned for `dtype`.
  Tensor view(DType dtype) const;
  /// A view of any elements of the storage, not only of this tensor's. `offset` counts from the
  /// start of the storage and is storage_offset() by default.
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
  /// A complex64 tensor as f32 with a last dimension of size 2, and back. Throws DTypeError for any
  /// other dtype.
  Tensor view_as_real() const;
  Tensor view_as_complex() const;

  // ---- clones: new tensors with a storage of their own. A write to the tensor is not visible in
  // the clone, and a write to the clone is not visible in the tensor. Throws StateError if this
  // tensor is storage-uninitialized, OutOfMemory.

  /// A clone with the layout of this tensor that shares the data until either is written. Cost: two
  /// small allocations and a few atomic adds; copies no elements. See Storage::lazy_clone.
  ///
  /// Exception: if the elements of the tensor are less than half of the bytes of its storage, they
  /// are copied at once, O(n), so that the clone does not retain the rest; the copy preserves the
  /// order of the strides. A mapped file is always shared.
  Tensor lazy_clone(CallSite site = CallSite::current()) const;
  /// A clone with the layout of this tensor, for code that writes through pointers and never calls
  /// byre: see Storage::writable_clone. If the elements are less than half of the storage, they are
  /// copied at once, as by lazy_clone(). Counts as a write to this tensor's storage.
  Tensor writable_clone(CallSite site = CallSite::current());
  /// A contiguous copy, made at once. O(n).
  Tensor clone(CallSite site = CallSite::current()) const;
  /// A contiguous clone: lazy_clone() if this tensor is contiguous, otherwise clone().
  Tensor contiguous(CallSite site = CallSite::current()) const;
  /// A clone with other sizes (-1 for one size infers it): lazy if strides can express
  /// the sizes, otherwise copied at once, O(n). Throws ShapeError if the number of elements
  /// differs.
  ///
  /// The mode, shadow::reshape_mode(), is read from the environment variable BYRE_RESHAPE (see
  /// docs/reshape.md). In every mode except ReshapeMode::copy the result is an alias if strides can
  /// express the sizes; the modes warn and error also track it. Throws InvalidArgument if the
  /// variable names an unknown mode. Source: the design note "Copy-on-write motivation".
  Tensor reshape(const Dims& sizes, CallSite site = CallSite::current()) const;
  /// Replaces this tensor by its reshape(). Views made before retain the old storage, so in
  /// ReshapeMode::copy they no longer alias this tensor.
  Tensor& reshape_(const Dims& sizes, CallSite site = CallSite::current());
  /// As aliases(), but false if the two have one storage only because a reshape() returned an alias
  /// (in a mode other than ReshapeMode::copy). True for a tensor and its views.
  bool is_of_view_family(const Tensor& other) const noexcept {
    return aliases(other) && base().shadow == other.base().shadow;
  }
  /// A clone on `device`: lazy_clone() if the tensor is on it, otherwise a contiguous copy, O(n).
  /// Throws DeviceError if `device` is not registered, StateError if the tensor is
  /// dtype-uninitialized and `device` is another one, and what the device's copy throws.
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
  /// A view that repeats no element of this tensor, so its size in bytes cannot overflow.
  /// `make_layout` constructs the layout in the new tensor: to move it there would take longer than
  /// everything else a view does.
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
  /// A view that may repeat elements. Throws ShapeError if its elements are more bytes than an
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

  // Contiguous copies, the second on another device. The caller has recorded the read.
  Tensor packed() const;
  Tensor copied_to(Device target) const;
  /// A clone of the storage, or a copy of the elements if they are less than half of the storage.
  template <class CloneStorage, class MakeLayout>
  Tensor clone_view(const char* operation, CallSite site, const CloneStorage& clone_storage,
                    const MakeLayout& make_layout) const;
  bool sees_less_than_half() const noexcept;
  std::optional<Tensor> copy_if_less_than_half(const Layout& seen) const;
  Tensor reshape_as_alias(const Dims& wanted, shadow::ReshapeMode mode, CallSite site) const;

  boost::intrusive_ptr<TensorBase> base_;
};

}  // namespace byre::inline v0
