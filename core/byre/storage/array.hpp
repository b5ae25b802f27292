// SPDX-License-Identifier: BSL-1.0
/// Array<T>: elements with value semantics, over a Buffer. A copy of an array is a lazy clone; a
/// write to either array copies the elements first. docs/arrays.md compares it with std::vector.
///
/// ```cpp
/// byre::Array<float> samples = {1, 2, 3};
/// const byre::Array<float> before = samples;         // a lazy clone: copies no element
/// samples.append(4);                                 // copies, because `before` shares
/// samples.mutable_span()[0] = 5;                     // in place
/// assert((samples == byre::Array<float>{5, 2, 3, 4}));
/// assert(before.size() == 3 && before[0] == 1);
/// ```
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>
#include <byre/error/error.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/storage/buffer.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace byre::inline BYRE_ABI {

namespace detail {

/// The bytes of `size` elements. Throws InvalidArgument if no buffer can have that many.
inline std::size_t nbytes_of_elements(const char* call, std::size_t size, std::size_t itemsize) {
  if (size > max_nbytes / itemsize) {
    throw InvalidArgument(
        format_text("%s: an array of %zu elements of %zu bytes is too large, a buffer has at most "
                    "%zu bytes. Was a size miscomputed?",
                    call, size, itemsize, max_nbytes));
  }
  return size * itemsize;
}

/// Throws InvalidArgument if the host cannot address the allocator's memory.
inline void expect_host_memory(const char* call, const Allocator& allocator) {
  if (!allocator.device().is_cpu()) {
    throw InvalidArgument(format_text(
        "%s: the memory of %s is on device %d:%d, an array requires host memory. Pass "
        "an allocator of host memory.",
        call, allocator.name(), int{allocator.device().kind()}, int{allocator.device().index()}));
  }
}

}  // namespace detail

/// Elements of type T, contiguous, in a Buffer. Reads have the names of std::vector; writes are
/// spelled out: mutable_span(), mutable_data(), append(), resize().
///
/// Thread-safety, progress and the parameter `site` are those of Buffer: arrays that share elements
/// are independent. A member that throws changes nothing; a member without a list of errors throws
/// nothing. An iterator, a reference or a pointer is valid until the next call of a non-const
/// member, assignment or destruction of the array. A pointer from mutable_span() or mutable_data()
/// is also invalid after the next copy of the array: a write through it would change the copy.
template <class T>
class Array {
  static_assert(std::is_same_v<T, std::remove_cv_t<T>> && std::is_trivially_copyable_v<T>,
                "byre::Array<T> copies elements as bytes: T must be trivially copyable and have no "
                "cv-qualifier. Use std::vector<T> for other types.");
  static_assert(std::is_copy_constructible_v<T> && std::is_copy_assignable_v<T>,
                "byre::Array<T> copies elements: T must have a copy constructor and a copy "
                "assignment. Use std::vector<T> for types that can only be moved.");
  static_assert(!std::is_array_v<T>,
                "byre::Array<T>: T must not be an array. Use std::array, or a struct.");
  static_assert(alignof(T) <= data_alignment,
                "byre::Array<T>: the alignment of T exceeds that of allocated memory, "
                "byre::data_alignment. Use a type with a smaller alignment.");

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = const T&;
  using const_reference = const T&;
  using pointer = const T*;
  using const_pointer = const T*;
  using iterator = const T*;
  using const_iterator = const T*;

  /// An array without elements and without memory, which default_allocator() provides later.
  Array() noexcept = default;

  /// An array of copies of `elements`. Throws the errors of allocate(). Cost: one allocation and a
  /// copy.
  Array(std::initializer_list<T> elements, Allocator& allocator = default_allocator())
      : Array(std::span<const T>(elements.begin(), elements.size()), allocator) {}
  explicit Array(std::span<const T> elements, Allocator& allocator = default_allocator())
      : Array(allocate(elements.size(), allocator)) {
    std::copy_n(elements.data(), elements.size(), mutable_data());
  }

  /// An array of `size` elements with indeterminate values, in memory of `allocator`. Throws
  /// InvalidArgument if the elements exceed max_nbytes or the allocator is of a device other than
  /// the host, and the errors of Buffer::allocate(). Cost: one allocation.
  static Array allocate(std::size_t size, Allocator& allocator = default_allocator()) {
    detail::expect_host_memory("Array::allocate", allocator);
    return Array(Buffer::allocate(detail::nbytes_of_elements("Array::allocate", size, sizeof(T)),
                                  allocator));
  }

  /// An array of `size` copies of `value`. Errors and cost are those of allocate(), and O(n).
  static Array filled(std::size_t size, T value, Allocator& allocator = default_allocator()) {
    Array array = allocate(size, allocator);
    std::fill_n(array.mutable_data(), size, value);
    return array;
  }

  /// An array over the memory of `elements`, which is empty afterwards. Copies no element: the
  /// array and its lazy clones own the memory. Throws OutOfMemory if there is no memory for the
  /// bookkeeping; `elements` are unchanged then. Cost: two allocations.
  template <std::same_as<T> Element>
  requires(!std::same_as<T, bool>)  // std::vector<bool> has no array of bools
      static Array
      from(std::vector<Element>&& elements, Allocator& allocator = default_allocator()) {
    detail::expect_host_memory("Array::from", allocator);
    auto* const kept = new (std::nothrow) std::vector<T>;
    if (kept == nullptr) {
      throw OutOfMemory::of_heap("Array::from");
    }
    Buffer buffer = Buffer::adopt(
        elements.data(), elements.size() * sizeof(T), [kept](void*) noexcept { delete kept; },
        allocator);
    *kept = std::move(elements);  // after adopt(), which may throw
    return Array(std::move(buffer));
  }

  /// An array over the bytes of `buffer`. Copies nothing: an array of a lazy clone shares the
  /// bytes. Throws InvalidArgument if the size is not a multiple of sizeof(T), if the bytes are not
  /// aligned for T, or if they are on a device other than the host.
  static Array from(Buffer buffer) {
    detail::expect_host_memory("Array::from", buffer.allocator());
    const auto address = reinterpret_cast<std::uintptr_t>(std::as_const(buffer).data());
    if (buffer.nbytes() % sizeof(T) != 0 || address % alignof(T) != 0) {
      throw InvalidArgument(format_text(
          "Array::from: a buffer of %zu bytes at address %p is no array: the size must be a "
          "multiple of %zu and the address a multiple of %zu. Pass whole elements, and copy "
          "misaligned bytes to a new buffer first.",
          buffer.nbytes(), reinterpret_cast<const void*>(address), sizeof(T), alignof(T)));
    }
    return Array(std::move(buffer));
  }

  /// A lazy clone: see the constructor of Buffer, which ends the program if it must copy borrowed
  /// memory and cannot.
  Array(const Array& other, CallSite site = CallSite::current()) noexcept
      : buffer_(other.buffer_, site) {}
  /// A lazy clone. Throws only if it copies borrowed or aliased memory: see Buffer::lazy_clone().
  Array lazy_clone(CallSite site = CallSite::current()) const {
    return Array(buffer_.lazy_clone(site));
  }
  /// A clone for code that writes through pointers: see Buffer::writable_clone().
  Array writable_clone(Wait wait = Wait::allowed, CallSite site = CallSite::current(),
                       Writers writers = Writers::none) {
    return Array(buffer_.writable_clone(wait, site, writers));
  }
  /// Takes over the elements of `other`, which is empty afterwards.
  Array(Array&& other, CallSite site = CallSite::current()) noexcept
      : buffer_(std::move(other.buffer_), site) {}
  Array& operator=(Array other) noexcept {
    swap(other);
    return *this;
  }
  ~Array() = default;

  void swap(Array& other, CallSite site = CallSite::current()) noexcept {
    buffer_.swap(other.buffer_, site);
  }
  friend void swap(Array& left, Array& right) noexcept { left.swap(right); }

  // ---- reading: copies nothing

  std::size_t size(CallSite site = CallSite::current()) const noexcept {
    return buffer_.nbytes(site) / sizeof(T);
  }
  bool empty(CallSite site = CallSite::current()) const noexcept { return size(site) == 0; }
  /// The largest size to which the array can grow without moving the elements, if it is not shared.
  std::size_t capacity(CallSite site = CallSite::current()) const noexcept {
    return buffer_.capacity(site) / sizeof(T);
  }
  /// The first element; null if the array has no memory.
  const T* data(CallSite site = CallSite::current()) const noexcept {
    return reinterpret_cast<const T*>(buffer_.data(site));
  }
  const T* begin(CallSite site = CallSite::current()) const noexcept { return data(site); }
  const T* end(CallSite site = CallSite::current()) const noexcept {
    return data(site) + size(site);
  }
  /// Requires that `index` < size().
  const T& operator[](std::size_t index) const noexcept { return data()[index]; }
  /// As operator[]. Throws InvalidArgument if `index` is out of range.
  const T& at(std::size_t index, CallSite site = CallSite::current()) const {
    if (index >= size(site)) {
      throw InvalidArgument(
          format_text("Array::at: index %zu is out of range, the array has %zu elements. Pass a "
                      "smaller index.",
                      index, size(site)));
    }
    return data(site)[index];
  }
  /// Requires that the array is not empty.
  const T& front() const noexcept { return *begin(); }
  const T& back() const noexcept { return *(end() - 1); }

  /// True iff both arrays share their elements, so that a write to either would copy.
  bool shares_data_with(const Array& other, CallSite site = CallSite::current()) const noexcept {
    return buffer_.shares_data_with(other.buffer_, site);
  }
  /// True iff the sizes and all elements are equal. Compares the elements even if they are shared.
  friend bool operator==(const Array& left,
                         const Array& right) requires std::equality_comparable<T> {
    return std::equal(left.begin(), left.end(), right.begin(), right.end());
  }

  /// The bytes. A copy of the result is a lazy clone.
  const Buffer& buffer() const& noexcept { return buffer_; }
  Buffer buffer() && noexcept { return std::move(buffer_); }

  // ---- writing

  /// The elements, to write: see Buffer::mutable_data(), also for the errors and the cost.
  std::span<T> mutable_span(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    return {mutable_data(wait, site), size(site)};
  }
  T* mutable_data(Wait wait = Wait::allowed, CallSite site = CallSite::current()) {
    return reinterpret_cast<T*>(buffer_.mutable_data(wait, site));
  }

  // The members below copy a shared array as Buffer::resize_unsharing() does, and never wait. They
  // throw InvalidArgument if the elements would exceed max_nbytes, and the errors of
  // Buffer::resize() other than NotUnique. If the capacity does not suffice, it grows by at least
  // half: appending n elements one by one copies at most 3n elements.

  /// Appends one element. Cost: O(1) amortized.
  void append(T value, CallSite site = CallSite::current()) {
    const std::size_t former = size(site);
    if (!buffer_.resize_in_place((former + 1) * sizeof(T), site)) [[unlikely]] {
      set_size("Array::append", former + 1, site);
    }
    mutable_data(Wait::allowed, site)[former] = value;
  }

  /// Appends `elements`, which may be elements of this array.
  void append(std::span<const T> elements, CallSite site = CallSite::current()) {
    if (elements.empty()) {
      return;
    }
    const std::size_t former = size(site);
    const T* source = elements.data();
    const bool is_own = !std::less<>()(source, begin(site)) && std::less<>()(source, end(site));
    const std::ptrdiff_t offset = is_own ? source - begin(site) : 0;
    set_size("Array::append", former + elements.size(), site);
    if (is_own) {
      source = begin(site) + offset;  // the elements may have moved
    }
    std::copy_n(source, elements.size(), mutable_data(Wait::allowed, site) + former);
  }

  /// Changes the size. New elements are copies of `value`. Copies nothing if the size is the former
  /// one.
  void resize(std::size_t size, T value = T(), CallSite site = CallSite::current()) {
    const std::size_t former = this->size(site);
    if (size == former) {
      return;
    }
    set_size("Array::resize", size, site);
    if (size > former) {
      std::fill_n(mutable_data(Wait::allowed, site) + former, size - former, value);
    }
  }

  /// Removes all elements. Copies nothing; retains the capacity if the array is not shared.
  void clear(CallSite site = CallSite::current()) {
    if (size(site) != 0 && !buffer_.resize_in_place(0, site)) {
      buffer_ = Buffer::allocate(0, buffer_.allocator());
    }
  }

  /// Provides a capacity of `size` elements or more, and makes the array the only owner of its
  /// elements: until the next lazy clone, growing to `size` elements copies nothing. A copy of an
  /// array, and the array that is written after it was copied, have the capacity of their size.
  void reserve(std::size_t size, CallSite site = CallSite::current()) {
    const std::size_t former = this->size(site);
    set_size("Array::reserve", (std::max)(size, former), site);
    set_size("Array::reserve", former, site);
  }

  /// Releases unused capacity: see Buffer::shrink_to_fit(). Does nothing if the array is shared.
  void shrink_to_fit(CallSite site = CallSite::current()) {
    if (buffer_.is_unique(site)) {
      buffer_.shrink_to_fit(site);
    }
  }

 private:
  explicit Array(Buffer&& buffer) noexcept : buffer_(std::move(buffer)) {}

  [[gnu::noinline]] void set_size(const char* call, std::size_t size, CallSite site) {
    buffer_.resize_unsharing(detail::nbytes_of_elements(call, size, sizeof(T)), site);
  }

  Buffer buffer_;
};

}  // namespace byre::inline BYRE_ABI
