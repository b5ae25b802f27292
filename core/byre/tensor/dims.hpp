// SPDX-License-Identifier: BSL-1.0
/// Dims: a short list of sizes, strides or axes. Up to five numbers are stored in the object
/// itself. This header also declares arithmetic on sizes that throws if a product overflows.
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace byre::inline BYRE_ABI {

/// A sequence of integers, one for each dimension, with the interface of a standard container.
/// Example: Dims sizes{2, 3}.
///
/// Cost: up to `most_in_place` numbers are stored in the object. A copy then copies a few words
/// without a loop, which matters because every view copies several Dims. More numbers are stored on
/// the heap. Errors: a member that allocates on the heap throws OutOfMemory if memory is exhausted.
/// Indices are not checked. Thread-safety: as a std::vector.
class BYRE_API Dims {
 public:
  static constexpr std::size_t most_in_place = 5;

  using value_type = std::int64_t;
  using iterator = std::int64_t*;
  using const_iterator = const std::int64_t*;

  Dims() noexcept = default;
  explicit Dims(std::size_t count, std::int64_t value = 0) {
    if (count > most_in_place) [[unlikely]] {
      resize(count, value);
      return;
    }
    for (count_ = 0; count_ < count; ++count_) {
      inline_[count_] = value;
    }
  }
  Dims(std::initializer_list<std::int64_t> numbers) : Dims(numbers.begin(), numbers.end()) {}
  template <std::input_iterator Iterator>
  Dims(Iterator first, Iterator last) {
    for (; first != last; ++first) {
      push_back(*first);
    }
  }
  Dims(const Dims& other) : inline_(other.inline_), count_(other.count_) {
    if (other.heap_ != nullptr) [[unlikely]] {
      copy_heap(other);
    }
  }
  Dims(Dims&& other) noexcept
      : inline_(other.inline_),
        count_(std::exchange(other.count_, 0)),
        heap_(std::move(other.heap_)) {}
  Dims& operator=(const Dims& other) { return *this = Dims(other); }
  Dims& operator=(Dims&& other) noexcept {
    inline_ = other.inline_;
    count_ = std::exchange(other.count_, 0);
    heap_ = std::move(other.heap_);
    return *this;
  }
  ~Dims() = default;

  std::size_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  std::int64_t* data() noexcept { return heap_ == nullptr ? inline_.data() : heap_.get(); }
  const std::int64_t* data() const noexcept {
    return heap_ == nullptr ? inline_.data() : heap_.get();
  }
  iterator begin() noexcept { return data(); }
  iterator end() noexcept { return data() + count_; }
  const_iterator begin() const noexcept { return data(); }
  const_iterator end() const noexcept { return data() + count_; }
  std::int64_t& operator[](std::size_t index) noexcept { return data()[index]; }
  const std::int64_t& operator[](std::size_t index) const noexcept { return data()[index]; }
  std::int64_t& front() noexcept { return *begin(); }
  const std::int64_t& front() const noexcept { return *begin(); }
  std::int64_t& back() noexcept { return end()[-1]; }
  const std::int64_t& back() const noexcept { return end()[-1]; }

  /// Changes the count of numbers; new numbers at the end are set to `value`.
  void resize(std::size_t count, std::int64_t value = 0);
  void push_back(std::int64_t number) {
    if (count_ < most_in_place) [[likely]] {
      inline_[count_++] = number;
    } else {
      resize(count_ + 1, number);
    }
  }
  void pop_back() {
    if (heap_ == nullptr) [[likely]] {
      --count_;
    } else {
      resize(count_ - 1);
    }
  }
  iterator insert(const_iterator where, std::int64_t number);
  iterator erase(const_iterator where) {
    const std::ptrdiff_t index = where - begin();
    std::copy(where + 1, const_iterator(end()), begin() + index);
    pop_back();
    return begin() + index;
  }
  /// A copy without the number at `index`. Requires `index` < size(). Costs no more than a full
  /// copy.
  Dims without(std::size_t index) const {
    Dims rest;  // returned without a move: moving a Dims would be slower than filling one
    if (heap_ != nullptr) [[unlikely]] {
      rest.copy_heap_without(*this, index);
      return rest;
    }
    const std::size_t count = count_ - 1;
    for (std::size_t at = 0; at < count; ++at) {
      rest.inline_[at] = inline_[at + (at >= index ? 1 : 0)];
    }
    rest.count_ = count;
    return rest;
  }

  friend bool operator==(const Dims& a, const Dims& b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void copy_heap(const Dims& other);
  void copy_heap_without(const Dims& other, std::size_t index);

  std::array<std::int64_t, most_in_place> inline_{};
  std::size_t count_ = 0;
  std::unique_ptr<std::int64_t[]> heap_;  // null if inline_ suffices; capacity: a power of 2
};

/// Thrown if sizes, strides, axes or indices are invalid for a tensor, or do not fit each other.
class BYRE_API ShapeError : public Error {
 public:
  using Error::Error;
};

/// The largest number of dimensions of a tensor, as in NumPy 2. A function that would exceed it
/// throws ShapeError.
inline constexpr std::size_t max_ndim = 64;

/// The numbers as text: "[2, 3]". Throws OutOfMemory if memory is exhausted.
BYRE_API std::string to_string(std::span<const std::int64_t> dims);
inline std::string to_string(const Dims& dims) {
  return to_string(std::span<const std::int64_t>(dims));
}

namespace detail {

[[noreturn]] BYRE_API void refuse_ndim(std::size_t ndim, const char* operation);

/// Throws ShapeError, which names `operation`, if `ndim` exceeds max_ndim. Only views that do not
/// call element_count() need this check.
inline void expect_ndim(std::size_t ndim, const char* operation) {
  if (ndim > max_ndim) [[unlikely]] {
    refuse_ndim(ndim, operation);
  }
}

/// The product of `sizes`. Throws ShapeError, which names `operation`, if a size is negative, there
/// are more than max_ndim sizes, or the product of the sizes other than 0 exceeds the bytes that an
/// object can have. This limit applies even if a size is 0, because strides are products of the
/// other sizes.
BYRE_API std::int64_t element_count(std::span<const std::int64_t> sizes, const char* operation);

/// numel * itemsize. Throws ShapeError, which names `operation`, if the product exceeds the bytes
/// that an object can have.
BYRE_API std::size_t byte_count(std::int64_t numel, std::size_t itemsize, const char* operation);

[[noreturn]] BYRE_API void refuse_axis(std::int64_t axis, std::size_t ndim, const char* operation);

/// `axis` as an index from 0; a negative axis counts from the end. Throws ShapeError, which names
/// `operation`, unless -ndim <= axis < ndim. If `ndim` is 0, accepts -1 and 0, as for one
/// dimension.
inline std::size_t wrap_axis(std::int64_t axis, std::size_t ndim, const char* operation) {
  const auto count = static_cast<std::int64_t>(ndim == 0 ? 1 : ndim);
  if (axis < -count || axis >= count) [[unlikely]] {
    refuse_axis(axis, ndim, operation);
  }
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

/// wrap_axis() of each of `axes`. Also throws ShapeError if a dimension is named twice.
BYRE_API Dims distinct_axes(const Dims& axes, std::size_t ndim, const char* operation);

}  // namespace detail
}  // namespace byre::inline BYRE_ABI
