// SPDX-License-Identifier: BSL-1.0
#include <byre/memory/allocator.hpp>
#include <byre/tensor/dims.hpp>

#include <algorithm>
#include <bit>
#include <new>

namespace byre::inline BYRE_ABI {
namespace {

constexpr std::size_t most_numbers = max_nbytes / sizeof(std::int64_t);

/// The capacity of a list that was allocated for `count` numbers: a power of two, so that appending
/// numbers one by one takes linear time.
std::size_t capacity_for(std::size_t count) noexcept {
  return count > most_numbers ? count : std::bit_ceil(count);
}

std::unique_ptr<std::int64_t[]> allocate_numbers(std::size_t count) {
  auto* const numbers =
      count > most_numbers ? nullptr : new (std::nothrow) std::int64_t[capacity_for(count)];
  if (numbers == nullptr) {
    throw OutOfMemory(std::min(count, most_numbers) * sizeof(std::int64_t),
                      "heap, for a list of many numbers");
  }
  return std::unique_ptr<std::int64_t[]>(numbers);
}

}  // namespace

void Dims::copy_heap(const Dims& other) {
  heap_ = allocate_numbers(count_);
  std::copy_n(other.data(), count_, heap_.get());
}

void Dims::copy_heap_without(const Dims& other, std::size_t index) {
  *this = other;
  erase(begin() + static_cast<std::ptrdiff_t>(index));
}

void Dims::resize(std::size_t count, std::int64_t value) {
  const std::size_t kept = std::min(count, count_);
  if (count > most_in_place) {
    if (heap_ == nullptr || count > capacity_for(count_)) {
      auto numbers = allocate_numbers(count);
      std::copy_n(data(), kept, numbers.get());
      heap_ = std::move(numbers);
    }
  } else if (heap_ != nullptr) {
    std::copy_n(heap_.get(), kept, inline_.begin());
    heap_.reset();
  }
  count_ = count;
  std::fill(begin() + static_cast<std::ptrdiff_t>(kept), end(), value);
}

Dims::iterator Dims::insert(const_iterator where, std::int64_t number) {
  const std::ptrdiff_t index = where - begin();
  push_back(number);
  std::rotate(begin() + index, end() - 1, end());
  return begin() + index;
}

std::string to_string(std::span<const std::int64_t> dims) try {
  std::string text = "[";
  for (const std::int64_t size : dims) {
    text += (text.size() == 1 ? "" : ", ") + std::to_string(size);
  }
  return text + "]";
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("to_string");
}

namespace detail {

namespace {

constexpr auto most_elements = static_cast<std::int64_t>(max_nbytes);

[[noreturn, gnu::cold]] void refuse_sizes(std::span<const std::int64_t> sizes,
                                          const char* operation) {
  if (const auto negative = std::ranges::find_if(sizes, [](std::int64_t size) { return size < 0; });
      negative != sizes.end()) {
    throw ShapeError(format_text("%s: size %lld of %s is negative. Sizes are 0 or more.", operation,
                                 static_cast<long long>(*negative), to_string(sizes).c_str()));
  }
  throw ShapeError(
      format_text("%s: sizes %s have more elements than an object can have bytes, %lld. Was a size "
                  "miscomputed?",
                  operation, to_string(sizes).c_str(), static_cast<long long>(most_elements)));
}

}  // namespace

void refuse_ndim(std::size_t ndim, const char* operation) {
  throw ShapeError(format_text(
      "%s: %zu dimensions, allowed are at most %zu (byre::max_ndim). Merge some of them by "
      "flatten(), view() or reshape().",
      operation, ndim, max_ndim));
}

std::int64_t element_count(std::span<const std::int64_t> sizes, const char* operation) {
  expect_ndim(sizes.size(), operation);
  std::int64_t product = 1;  // of the sizes other than 0
  bool is_empty = false;
  for (const std::int64_t size : sizes) {
    if (size == 0) {
      is_empty = true;
    } else if (size < 0 || __builtin_mul_overflow(product, size, &product) ||
               product > most_elements) [[unlikely]] {
      refuse_sizes(sizes, operation);
    }
  }
  return is_empty ? 0 : product;
}

std::size_t byte_count(std::int64_t numel, std::size_t itemsize, const char* operation) {
  std::size_t nbytes = 0;
  if (__builtin_mul_overflow(numel, itemsize, &nbytes) || nbytes > max_nbytes) {
    throw ShapeError(
        format_text("%s: %lld elements of %zu bytes exceed %zu bytes, the most that an object can "
                    "have. Was a size miscomputed?",
                    operation, static_cast<long long>(numel), itemsize, max_nbytes));
  }
  return nbytes;
}

void refuse_axis(std::int64_t axis, std::size_t ndim, const char* operation) {
  const auto count = static_cast<long long>(ndim == 0 ? 1 : ndim);
  throw ShapeError(
      format_text("%s: dimension %lld is out of range for a tensor of %zu dimensions. Use %lld to "
                  "%lld; negative numbers count from the last.",
                  operation, static_cast<long long>(axis), ndim, -count, count - 1));
}

Dims distinct_axes(const Dims& axes, std::size_t ndim, const char* operation) {
  Dims wrapped;
  for (const std::int64_t axis : axes) {
    const auto next = static_cast<std::int64_t>(wrap_axis(axis, ndim, operation));
    if (std::ranges::find(wrapped, next) != wrapped.end()) {
      throw ShapeError(
          format_text("%s: dimension %lld is named twice in %s. Name each dimension at most once.",
                      operation, static_cast<long long>(next), to_string(axes).c_str()));
    }
    wrapped.push_back(next);
  }
  return wrapped;
}

}  // namespace detail
}  // namespace byre::inline BYRE_ABI
